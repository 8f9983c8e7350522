import { dejaVuFile } from '../../../fonts/dejavu.js';
import { rectangle, united, type Box } from './box.js';
import { FontWidths } from './font-widths.js';
import { numbersIn, pixels } from './numbers.js';
import type { Style, Styles } from './styles.js';

const [SANS, BOLD, MONO] = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSansMono'].map(
  (name) => new FontWidths(dejaVuFile(name)),
) as [FontWidths, FontWidths, FontWidths];
const PARTS = new Set(['tspan', 'textPath', 'a']);
/** How much of the line that begins at an anchor lies before it. */
const BEFORE: Record<string, number> = { middle: 0.5, end: 1 };

/** Letters of one style in one line. */
interface Run {
  readonly x: number;
  readonly y: number;
  readonly style: Style;
  width: number;
}

/** A line that has one anchor. */
interface Chunk {
  readonly anchor: string;
  readonly runs: Run[];
}

type Font = Pick<Style, 'fontSize' | 'isBold' | 'isMono'>;

export function widthOf(text: string, font: Font): number {
  return widthsOf(font).of(text) * font.fontSize;
}

/** The words of a text element, laid out as a browser does. */
export class TextLayout {
  private readonly chunks: Chunk[] = [];
  private x = 0;
  private y = 0;
  /** White space at the beginning of a text, and after other white space, is dropped. */
  private isAfterSpace = true;

  constructor(
    element: Element,
    private readonly styles: Styles,
  ) {
    this.add(element);
    this.dropLastSpace();
  }

  get width(): number {
    return this.chunks.flatMap(({ runs }) => runs).reduce((sum, { width }) => sum + width, 0);
  }

  get box(): Box | undefined {
    let box: Box | undefined;
    for (const { runs, anchor } of this.chunks) {
      const [first, last] = [runs[0], runs.at(-1)];
      if (!first || !last) continue;
      const before = (last.x + last.width - first.x) * (BEFORE[anchor] ?? 0);
      for (const run of runs) box = united(box, boxOf(run, before));
    }
    return box;
  }

  private add(element: Element): void {
    const style = this.styles.of(element);
    if (!style.isShown) return;
    this.move(element, style);
    for (const child of element.childNodes) {
      if (child.nodeType === child.TEXT_NODE) this.write(child.nodeValue ?? '', style);
      else if (PARTS.has((child as Element).localName)) this.add(child as Element);
    }
  }

  private move(element: Element, { fontSize, anchor }: Style): void {
    const [x, y] = [element.getAttribute('x'), element.getAttribute('y')];
    if (x !== null) this.x = pixels(x, fontSize);
    if (y !== null) this.y = pixels(y, fontSize);
    this.x += pixels(element.getAttribute('dx'), fontSize);
    this.y += pixels(element.getAttribute('dy'), fontSize);
    if (x !== null || y !== null || this.chunks.length === 0) this.chunks.push({ anchor, runs: [] });
    // Two and more are for one letter each, of which only the first is read.
    if (numbersIn(x).length > 1) this.x = numbersIn(x)[0]!;
  }

  private write(words: string, style: Style): void {
    const spaced = words.replace(/[ \t\r\n]+/g, ' ');
    const text = this.isAfterSpace ? spaced.replace(/^ /, '') : spaced;
    if (text === '') return;
    const width = widthOf(text, style);
    this.chunks.at(-1)!.runs.push({ x: this.x, y: this.y, style, width });
    this.x += width;
    this.isAfterSpace = text.endsWith(' ');
  }

  private dropLastSpace(): void {
    const last = this.chunks.at(-1)?.runs.at(-1);
    if (last && this.isAfterSpace) last.width -= widthOf(' ', last.style);
  }
}

function boxOf({ x, y, width, style }: Run, before: number): Box {
  const { ascent, descent } = widthsOf(style);
  const baseline = y + style.fontSize * raised(style.baseline, ascent, descent);
  // Browsers make whole pixels of both.
  const [above, below] = [Math.round(ascent * style.fontSize), Math.round(descent * style.fontSize)];
  return rectangle(x - before, baseline - above, width, above + below);
}

/** How far below its `y` a line has its baseline, in em. */
function raised(baseline: string, ascent: number, descent: number): number {
  if (baseline === 'central') return (ascent - descent) / 2;
  if (baseline === 'middle') return 0.27;
  if (baseline === 'hanging') return ascent * 0.8;
  if (/before-edge|text-top/.test(baseline)) return ascent;
  return /after-edge|text-bottom|ideographic/.test(baseline) ? -descent : 0;
}

function widthsOf({ isBold, isMono }: Font): FontWidths {
  if (isMono) return MONO;
  return isBold ? BOLD : SANS;
}
