export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';
export type Paint = (style: Style, text: string) => string;

/** What a text is rendered for. */
export interface Screen {
  readonly paint: Paint;
  /** Columns of the terminal; infinite for files and pipes, where nothing is cut. */
  readonly width: number;
}

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Leaves text as it is, for files, pipes and tests. */
const colourless: Paint = (_style, text) => text;
export const plain: Screen = { paint: colourless, width: Infinity };

const colourful: Paint = (style, text) => (text === '' ? text : `\x1b[${CODES[style]}m${text}\x1b[0m`);

const ERASE_LINE = '\r\x1b[K';

/** Writes answers to stdout and everything else to stderr. */
export class Output {
  /** For what goes to stderr. */
  readonly noteScreen: Screen;
  private readonly paint: Paint;
  /** Keeps the process running when the reader of stdout has gone. */
  mustFinish = false;
  private liveLine = '';

  constructor(
    private readonly stdout: NodeJS.WriteStream,
    private readonly stderr: NodeJS.WriteStream,
    env: NodeJS.ProcessEnv,
    readonly isJson = false,
  ) {
    const wantsColour = !env['NO_COLOR'] && env['TERM'] !== 'dumb';
    this.paint = wantsColour && stdout.isTTY ? colourful : colourless;
    this.noteScreen = { ...plain, ...(wantsColour && stderr.isTTY && { paint: colourful }) };
  }

  get isTerminal(): boolean {
    return this.stdout.isTTY;
  }

  /** Its width changes with the terminal. */
  get screen(): Screen {
    return { paint: this.paint, width: this.stdout.isTTY ? this.stdout.columns || 80 : Infinity };
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

  /** Prints an answer: whole with --json, else as text. */
  answer<T>(value: T, render: (value: T, screen: Screen) => string): void {
    if (this.isJson) this.json(value);
    else this.print(render(value, this.screen));
  }

  /** JSON Lines, for one value of many. */
  line(value: unknown): void {
    this.print(JSON.stringify(value));
  }

  note(text: string): void {
    this.clearLive();
    this.stderr.write(`${text}\n`);
  }

  /** Shows a status line that the next call replaces, on a terminal only. The text is truncated, so it must have no colours. */
  live(text: string): void {
    if (!this.stderr.isTTY || text === this.liveLine) return;
    this.stderr.write(`${ERASE_LINE}${text.slice(0, (this.stderr.columns || 80) - 1)}`);
    this.liveLine = text;
  }

  /** Writes text unchanged, such as terminal control sequences. */
  raw(text: string): void {
    this.stdout.write(text);
  }

  clearLive(): void {
    if (this.liveLine !== '') this.stderr.write(ERASE_LINE);
    this.liveLine = '';
  }
}
