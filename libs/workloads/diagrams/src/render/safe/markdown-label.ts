import type { SaxesTagPlain } from 'saxes';
import { escaped } from '../escape.js';

interface Style {
  readonly font: 'regular' | 'bold' | 'italic' | 'semibold' | 'mono';
  readonly size: number;
}

interface Piece extends Style {
  readonly text: string;
}

/** One line of text with what is around it, in px of D2's own style sheet. */
interface Line {
  readonly pieces: Piece[];
  readonly indent: number;
  readonly above: number;
  readonly height: number;
  /** Of an item of a list; apart, since the fonts of D2 need not have it. */
  readonly marker?: string;
  /** A line below, as of a title; or a ground behind, as of code. */
  readonly mark?: 'rule' | 'ground';
  /** Of a row of a table: where each of its cells begins among the pieces. */
  readonly cells?: number[];
}

const TEXT: Style = { font: 'regular', size: 16 };
const CODE: Style = { font: 'mono', size: 13.6 };
const TITLES: Readonly<Record<string, number>> = { h1: 32, h2: 24, h3: 20, h4: 16, h5: 14, h6: 13.6 };
const INLINE: Readonly<Record<string, Style['font']>> = {
  strong: 'bold',
  b: 'bold',
  th: 'semibold',
  em: 'italic',
  i: 'italic',
  dfn: 'italic',
  code: 'mono',
  tt: 'mono',
};
/** Elements of HTML that begin a line of their own. */
export const BLOCKS = /^(?:p|div|li|tr|pre|h[1-6]|ul|ol|table|blockquote|hr|br)$/;
const LIST_INDENT = 32;
const CELL_PADDING = 13;
/** Of a letter's height, on average: there are no widths here to measure with. */
const LETTER_WIDTH = 0.5;

/** A Markdown block of D2, which it writes as HTML: the same words in the same order as text of the drawing, laid out like there. */
export class MarkdownLabel {
  private readonly lines: Line[] = [];
  private readonly open: string[] = ['div'];
  private readonly numbers: number[] = [];
  private next: Line | undefined;
  private marker = '';
  /** Whether the next line begins a block of its own. */
  private isFirst = false;

  constructor(
    private readonly place: SaxesTagPlain,
    private readonly name: string,
    private readonly colour: string,
  ) {}

  enter(name: string): void {
    if (BLOCKS.test(name)) this.endLine();
    if (BLOCKS.test(name) && this.open.length === 1) this.isFirst = true;
    if (name === 'ul' || name === 'ol') this.numbers.push(name === 'ol' ? 1 : 0);
    if (name === 'li') this.marker = this.nextMarker();
    this.open.push(name);
    if (name === 'hr') this.lines.push({ ...this.newLine(), height: 24, mark: 'rule' });
    if (name === 'tr')
      this.next = { ...this.newLine(), above: this.lines.at(-1)?.cells ? 0 : 10, height: 37, cells: [] };
    if (name === 'td' || name === 'th') this.next?.cells?.push(this.next.pieces.length);
  }

  leave(name: string): boolean {
    if (this.open.length === 0) return true;
    this.open.pop();
    if (BLOCKS.test(name)) this.endLine();
    if (name === 'ul' || name === 'ol') this.numbers.pop();
    return false;
  }

  add(text: string): void {
    if (!this.open.includes('pre')) return this.say(text.replace(/\s+/g, ' '));
    for (const [nth, line] of text.replace(/\n$/, '').split('\n').entries()) {
      if (nth > 0) this.endLine();
      this.say(line.replaceAll(' ', '\u00A0') || '\u00A0');
    }
  }

  /** The lines as text of a drawing, made smaller where they would leave their place. */
  get drawn(): string {
    this.endLine();
    const [x, y, width, height] = boxOf(this.place);
    const lines = this.lines.map((line, nth) => (nth === 0 ? { ...line, above: 0 } : line));
    const needed = lines.reduce((sum, line) => sum + line.above + line.height, 0);
    const widest = Math.max(1, ...lines.filter(({ cells }) => !cells).map(widthOf));
    const scale = Math.min(1, (height || needed) / needed, ((width || widest) * 1.1) / widest) || 1;
    const columns = columnsOf(lines, (width || widest) / scale);
    let top = 0;
    const drawn = lines.map((line) => {
      top += line.above + line.height;
      return this.drawnLine(line, top, (width || widest) / scale, columns);
    });
    const moved = `transform="translate(${x} ${y}) scale(${scale})"`;
    return `<g class="${escaped(this.colour)}" fill="currentColor" ${moved}>${drawn.join('')}</g>`;
  }

  private say(text: string): void {
    if (text.trim() === '' && (!this.next || this.next.pieces.length === 0)) return;
    this.next ??= { ...this.newLine(), ...(this.marker !== '' && { marker: this.marker }) };
    this.marker = '';
    this.next.pieces.push({ ...this.style, text });
  }

  private endLine(): void {
    if (this.next && this.next.pieces.length > 0) this.lines.push(this.next);
    this.next = undefined;
  }

  private newLine(): Line {
    const title = this.open.find((name) => name in TITLES);
    const gap = this.isFirst ? 10 : 0;
    this.isFirst = false;
    const indent = this.numbers.length * LIST_INDENT + (this.open.includes('blockquote') ? 16 : 0);
    const size = title === undefined ? 16 : TITLES[title]!;
    if (title !== undefined) {
      const hasRule = title === 'h1' || title === 'h2';
      const height = size * (hasRule ? 1.55 : 1.25);
      return { pieces: [], indent, above: 24, height, ...(hasRule && { mark: 'rule' }) };
    }
    if (this.open.includes('pre'))
      return { pieces: [], indent: indent + 16, above: gap, height: 19.7, mark: 'ground' };
    return { pieces: [], indent, above: Math.max(gap, this.numbers.length > 0 ? 4 : 10), height: 24 };
  }

  private get style(): Style {
    const title = this.open.find((name) => name in TITLES);
    if (this.open.includes('pre')) return CODE;
    const inline = this.open.findLast((name) => name in INLINE);
    const font = inline === undefined ? (title === undefined ? 'regular' : 'semibold') : INLINE[inline]!;
    const size = title === undefined ? TEXT.size : TITLES[title]!;
    return { font, size: font === 'mono' ? size * 0.85 : size };
  }

  private nextMarker(): string {
    const number = this.numbers.at(-1) ?? 0;
    if (number === 0) return '•';
    this.numbers[this.numbers.length - 1] = number + 1;
    return `${number}.`;
  }

  private drawnLine(line: Line, bottom: number, width: number, columns: readonly number[]): string {
    const { pieces, indent, height, mark, cells, marker } = line;
    const top = bottom - height;
    const base = top + (mark === 'rule' && pieces.length > 0 ? height * 0.62 : height * 0.68);
    const starts = cells ?? [0];
    const texts = starts.map((from, nth) => {
      const cell = pieces.slice(from, starts[nth + 1]);
      const x = cells ? columns[nth]! + CELL_PADDING : indent;
      return cell.length > 0
        ? `<text x="${x}" y="${base}">${cell.map((each) => this.span(each)).join('')}</text>`
        : '';
    });
    const before =
      marker === undefined
        ? ''
        : `<text x="${indent - 10}" y="${base}" text-anchor="end" font-family="sans-serif" font-size="16">${marker}</text>`;
    return ground(line, top, width) + before + texts.join('') + rule(line, bottom, width);
  }

  private span({ text, font, size }: Piece): string {
    const family = escaped(`${this.name}-font-${font}`);
    const ours = font === 'mono' ? 'monospace' : 'sans-serif';
    return `<tspan font-family="${family}, ${ours}" font-size="${size}">${escaped(text)}</tspan>`;
  }
}

/** The place of a label in its drawing; 0 for what is not told. */
export function boxOf({ attributes }: SaxesTagPlain): [x: number, y: number, width: number, height: number] {
  const number = (name: string): number => Number.parseFloat(attributes[name] ?? '') || 0;
  return [number('x'), number('y'), number('width'), number('height')];
}

function ground({ mark, height, indent }: Line, top: number, width: number): string {
  if (mark !== 'ground') return '';
  return `<rect x="${indent - 16}" y="${top}" width="${Math.max(0, width - indent + 16)}" height="${height + 0.5}" opacity="0.06"></rect>`;
}

function rule({ mark, cells, indent }: Line, bottom: number, width: number): string {
  if (mark !== 'rule' && !cells) return '';
  return `<path d="M${indent} ${bottom}H${width}" stroke="currentColor" opacity="0.3"></path>`;
}

/** Where each column of the tables begins: they share the width by their longest cells. */
function columnsOf(lines: readonly Line[], width: number): number[] {
  const longest: number[] = [];
  for (const { pieces, cells = [] } of lines) {
    cells.forEach((from, nth) => {
      const own = lengthOf(pieces.slice(from, cells[nth + 1])) + 2 * CELL_PADDING;
      longest[nth] = Math.max(longest[nth] ?? 0, own);
    });
  }
  const all = longest.reduce((sum, each) => sum + each, 0);
  const share = Math.min(1, width / all);
  let at = 0;
  return longest.map((each) => (at += each * share) - each * share);
}

function widthOf({ indent, pieces }: Line): number {
  return indent + lengthOf(pieces);
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { text, size }) => sum + text.length * size * LETTER_WIDTH, 0);
}
