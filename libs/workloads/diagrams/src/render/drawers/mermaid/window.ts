import { ident } from 'css-tree';
import { JSDOM, VirtualConsole, type DOMWindow } from 'jsdom';
import { addMeasuring } from './layout/measuring.js';
import { pictureSize } from './picture-size.js';

/** What Mermaid and its layouts look for as globals. */
const GLOBALS = [
  'document',
  'screen',
  'Element',
  'HTMLElement',
  'SVGElement',
  'Node',
  'NodeFilter',
  'DOMParser',
  'XMLSerializer',
  'CSSStyleSheet',
  'getComputedStyle',
  'requestAnimationFrame',
  'cancelAnimationFrame',
  'MutationObserver',
  'Image',
  'CSS',
] as const;

/** A window in which Mermaid can draw. Nothing runs and nothing is loaded in it. */
export function openWindow(): DOMWindow {
  const { window } = new JSDOM('<!doctype html><body></body>', {
    pretendToBeVisual: true,
    // What jsdom cannot do it would write to the console.
    virtualConsole: new VirtualConsole(),
  });
  addMeasuring(window);
  acceptBareLengths(window);
  Object.assign(window, { Image: Picture, CSS: cssOf(window) });
  const globals = Object.fromEntries(GLOBALS.map((name) => [name, window[name] as unknown]));
  for (const [name, value] of Object.entries({ ...globals, window }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return window;
}

/** In an SVG a length may lack its unit, and Mermaid leaves it out; jsdom then forgets the whole property. */
function acceptBareLengths({ CSSStyleDeclaration }: DOMWindow): void {
  const { prototype } = CSSStyleDeclaration;
  type Set = (this: CSSStyleDeclaration, name: string, value: unknown, priority?: string) => void;
  const set = Object.getOwnPropertyDescriptor(prototype, 'setProperty')!.value as Set;
  prototype.setProperty = function (name, value, priority) {
    set.call(this, name, value, priority);
    const isForgotten = this.getPropertyValue(name) === '' && /^[\d.]+$/.test(String(value));
    if (isForgotten) set.call(this, name, `${value}px`, priority);
  };
}

/** As much of the `CSS` of a browser as Mermaid asks for. */
function cssOf({ document }: DOMWindow): object {
  return {
    escape: (name: string) => ident.encode(name),
    supports(name: string, value: string) {
      const { style } = document.createElement('div');
      style.setProperty(name, value);
      return style.getPropertyValue(name) !== '';
    },
  };
}

/** As much of an `Image` as Mermaid asks for: the size, and never a failure. */
class Picture {
  src = '';

  get naturalWidth(): number {
    return pictureSize(this.src).width;
  }

  get naturalHeight(): number {
    return pictureSize(this.src).height;
  }

  decode(): Promise<void> {
    return Promise.resolve();
  }
}
