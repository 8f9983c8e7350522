export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';
export type Paint = (style: Style, text: string) => string;

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** For files, pipes, and tests. */
export const plain: Paint = (_style, text) => text;

const colourful: Paint = (style, text) => (text === '' ? text : `\x1b[${CODES[style]}m${text}\x1b[0m`);

const ERASE_LINE = '\r\x1b[K';

/** Where the command speaks: answers to stdout, everything about them to stderr. */
export class Output {
  readonly paint: Paint;
  readonly paintNote: Paint;
  /** What is under way must be done to its end, whether or not somebody still reads. */
  mustFinish = false;
  private liveLine = '';

  constructor(
    private readonly stdout: NodeJS.WriteStream,
    private readonly stderr: NodeJS.WriteStream,
    env: NodeJS.ProcessEnv,
    /** What `--json` says. */
    readonly isJson = false,
  ) {
    const wantsColour = !env['NO_COLOR'] && env['TERM'] !== 'dumb';
    this.paint = wantsColour && stdout.isTTY ? colourful : plain;
    this.paintNote = wantsColour && stderr.isTTY ? colourful : plain;
  }

  get isTerminal(): boolean {
    return this.stdout.isTTY;
  }

  get height(): number {
    return this.stdout.rows || 24;
  }

  print(text: string): void {
    this.clearLive();
    this.stdout.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.print(JSON.stringify(value, null, 2));
  }

  /** One of many, each on a line of its own. */
  line(value: unknown): void {
    this.print(JSON.stringify(value));
  }

  note(text: string): void {
    this.clearLive();
    this.stderr.write(`${text}\n`);
  }

  /** A line that the next one takes the place of; only where somebody watches. Cut to fit, so it has no colours. */
  live(text: string): void {
    if (!this.stderr.isTTY || text === this.liveLine) return;
    this.stderr.write(`${ERASE_LINE}${text.slice(0, (this.stderr.columns || 80) - 1)}`);
    this.liveLine = text;
  }

  /** As it is, such as what moves a terminal's cursor. */
  raw(text: string): void {
    this.stdout.write(text);
  }

  clearLive(): void {
    if (this.liveLine !== '') this.stderr.write(ERASE_LINE);
    this.liveLine = '';
  }
}
