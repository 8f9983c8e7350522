import type { DOMWindow } from 'jsdom';
import type { Mermaid } from 'mermaid';
import type { Drawer } from '../drawer.js';
import { mendLabels, readEntities } from './in-page.js';
import { mermaidInvalid, plainError } from './invalid.js';
import { plainSource } from './plain-source.js';
import { SETTINGS } from './settings.js';
import { openWindow } from './window.js';

/** Mermaid itself without a browser: in jsdom, with text measured by the widths of the font that comes along. */
export async function load(): Promise<Drawer> {
  const window = openWindow();
  readEntities(window);
  const { default: mermaid } = await import('mermaid');
  return { draw: (source) => draw(mermaid, window, plainSource(source)) };
}

async function draw(mermaid: Mermaid, window: DOMWindow, source: string): Promise<string> {
  const { document, XMLSerializer } = window;
  // The settings of the source before this one are forgotten.
  mermaid.initialize(SETTINGS);
  try {
    const holder = document.createElement('div');
    holder.innerHTML = (await mermaid.render('diagram', source)).svg;
    const svg = holder.querySelector('svg')!;
    mendLabels(svg);
    return new XMLSerializer().serializeToString(svg);
  } catch (error) {
    // No parser says these: it is unknown in what state Mermaid is now.
    if (error instanceof RangeError || error instanceof TypeError || error instanceof ReferenceError)
      throw error;
    throw mermaidInvalid(plainError(error));
  } finally {
    clear(document);
  }
}

/** jsdom applies the sheet of a removed drawing to the next one, until its `style` element is empty. */
function clear({ body, styleSheets }: Document): void {
  const owners = Array.from(styleSheets, ({ ownerNode }) => ownerNode);
  for (const owner of owners) if (owner) owner.textContent = '';
  body.replaceChildren();
}
