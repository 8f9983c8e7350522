import type { SaxesTagPlain } from 'saxes';
import { escaped } from '../escape.js';
import { BLOCKS, boxOf } from './markdown-label.js';

const UNREAD = new Set(['script', 'style', 'template']);
const LEADING = 1.25;
const SIZE = 16;

/** The words of an HTML label, which is left out: as lines of plain text in its place. */
export class PlainText {
  private readonly lines: string[] = [''];
  private depth = 1;
  /** Depth inside elements whose text is not shown. */
  private silent = 0;

  constructor(readonly place: SaxesTagPlain) {}

  enter(name: string): void {
    this.depth += 1;
    if (this.silent > 0 || UNREAD.has(local(name))) this.silent += 1;
    if (BLOCKS.test(local(name))) this.breakLine();
    if (local(name) === 'li') this.add('• ');
  }

  /** Whether the label itself is over. */
  leave(name: string): boolean {
    this.depth -= 1;
    if (this.silent > 0) this.silent -= 1;
    if (BLOCKS.test(local(name))) this.breakLine();
    return this.depth === 0;
  }

  add(text: string): void {
    if (this.silent > 0) return;
    this.lines[this.lines.length - 1] += text.replace(/\s+/g, ' ');
  }

  /** The lines as text, in the middle of where the label was. */
  get drawn(): string {
    const lines = this.lines.map((line) => line.trim()).filter(Boolean);
    const [x, y, width, height] = boxOf(this.place);
    const size = Math.min(SIZE, height > 0 ? height / (lines.length * LEADING) : SIZE);
    const top = y + (height - lines.length * size * LEADING) / 2;
    return lines
      .map((text, at) => lineOf(text, x + width / 2, top + (at + 0.9) * size * LEADING, size))
      .join('');
  }

  private breakLine(): void {
    if (this.lines.at(-1) !== '') this.lines.push('');
  }
}

function lineOf(text: string, x: number, y: number, size: number): string {
  const place = `x="${x}" y="${y}" text-anchor="middle" font-size="${size}"`;
  return `<text ${place} font-family="sans-serif">${escaped(text)}</text>`;
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase();
}
