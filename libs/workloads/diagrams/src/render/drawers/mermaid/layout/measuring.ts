import type { DOMWindow } from 'jsdom';
import { rectangle, type Box } from './box.js';
import { lengthOf, piecesOf, pointAt } from './path.js';
import { boxOf, boxOnPage } from './shapes.js';
import { Styles } from './styles.js';
import { TextLayout, widthOf } from './text.js';

/** The view that Chromium has here too, and what a page in it has between its margins. */
const VIEW = { width: 800, height: 600 };
const PAGE = { width: 784, height: 600 };
const LINE_HEIGHT = 1.2;
const NOTHING = rectangle(0, 0, 0, 0);

interface Measures {
  [method: string]: (this: Element, ...args: never[]) => unknown;
}

const OF_SVG: Measures = {
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

const OF_HTML: Measures = {
  getBoundingClientRect() {
    return rectOf(boxOfWords(this));
  },
};

/** Gives a window what jsdom lacks: sizes. */
export function addMeasuring({ SVGElement, HTMLElement, HTMLCanvasElement, screen }: DOMWindow): void {
  Object.assign(SVGElement.prototype, OF_SVG);
  Object.assign(HTMLElement.prototype, OF_HTML);
  for (const [prefix, { width, height }] of Object.entries({ offset: PAGE, client: PAGE })) {
    define(HTMLElement.prototype, `${prefix}Width`, width);
    define(HTMLElement.prototype, `${prefix}Height`, height);
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

function boxOfWords(element: Element): Box {
  const style = new Styles().of(element);
  const text = (element.textContent ?? '').replace(/\s+/g, ' ').trim();
  return rectangle(0, 0, widthOf(text, style), text === '' ? 0 : style.fontSize * LINE_HEIGHT);
}

/** The members of an SVGRect, and no more: Mermaid takes one with a `left` for HTML. */
function sizeOf({ left, top, right, bottom }: Box = NOTHING): object {
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function rectOf(box: Box = NOTHING): object {
  return { ...box, ...sizeOf(box) };
}
