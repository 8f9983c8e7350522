import type { DOMWindow } from 'jsdom';
import { rectangle, type Box } from './box.js';
import { lengthOf, piecesOf, pointAt } from './path.js';
import { boxOf, boxOnPage } from './shapes.js';
import { Styles } from './styles.js';
import { TextLayout, widthOf } from './text.js';

/** The view that Chromium has here too; what a page in it has between its margins is less wide. */
const VIEW = { width: 800, height: 600 };
const PAGE_WIDTH = 784;
const LINE_HEIGHT = 1.2;
const NOTHING = rectangle(0, 0, 0, 0);

const OF_SVG: Record<string, (this: Element, ...args: never[]) => unknown> = {
  getBBox() {
    return sizeOf(boxOf(this));
  },
  getBoundingClientRect() {
    return rectOf(boxOnPage(this));
  },
  getComputedTextLength() {
    return new TextLayout(this, new Styles()).width;
  },
  getTotalLength() {
    return lengthOf(piecesOf(this.getAttribute('d')));
  },
  getPointAtLength(length: number) {
    const [x, y] = pointAt(piecesOf(this.getAttribute('d')), length);
    return { x, y };
  },
};

/** Gives a window what jsdom lacks: sizes. */
export function addMeasuring({ SVGElement, HTMLElement, HTMLCanvasElement, screen }: DOMWindow): void {
  Object.assign(SVGElement.prototype, OF_SVG);
  Object.assign(HTMLElement.prototype, { getBoundingClientRect: rectOfWords });
  for (const prefix of ['offset', 'client']) {
    define(HTMLElement.prototype, `${prefix}Width`, PAGE_WIDTH);
    define(HTMLElement.prototype, `${prefix}Height`, VIEW.height);
  }
  define(screen, 'availWidth', VIEW.width);
  define(screen, 'availHeight', VIEW.height);
  // Layouts ask a canvas how wide labels are, and draw nothing on it.
  Object.assign(HTMLCanvasElement.prototype, { getContext: () => ({ font: '', measureText }) });
}

function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, configurable: true });
}

function measureText(this: { readonly font: string }, text: string): { width: number } {
  const fontSize = Number.parseFloat(/([\d.]+)px/.exec(this.font)?.[1] ?? '') || 10;
  const isBold = /bold|[6-9]00/.test(this.font);
  return { width: widthOf(text, { fontSize, isBold, isMono: false }) };
}

function rectOfWords(this: Element): object {
  const style = new Styles().of(this);
  const text = this.textContent.replace(/\s+/g, ' ').trim();
  return rectOf(rectangle(0, 0, widthOf(text, style), text === '' ? 0 : style.fontSize * LINE_HEIGHT));
}

/** The members of an SVGRect, and no more: Mermaid takes one with a `left` for HTML. */
function sizeOf({ left, top, right, bottom }: Box = NOTHING): object {
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function rectOf(box: Box = NOTHING): object {
  return { ...box, ...sizeOf(box) };
}
