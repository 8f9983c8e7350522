import type { Mermaid } from 'mermaid';
import { dropPage, takePage } from '../../browser/browser.js';
import { RenderLimit } from '../../errors.js';
import type { Drawer } from '../drawer.js';
import { forgivePictures, mendLabels, readEntities } from './in-page.js';
import { mermaidInvalid, plainError, type PlainError } from './invalid.js';
import { plainSource } from './plain-source.js';
import { SETTINGS } from './settings.js';

type Page = typeof globalThis & { readonly mermaid: Mermaid };
type Said = { readonly svg: string } | { readonly error: PlainError };

/** What the function below needs of this module: a page is given it as text. */
const TOOLS = { plainError, readEntities, forgivePictures, mendLabels };
const TOOLS_TEXT = `{${Object.entries(TOOLS)
  .map(([name, tool]) => `${name}: ${tool.toString()}`)
  .join(',')}}`;

export function load(): Drawer {
  return { draw: (source) => draw(plainSource(source)) };
}

async function draw(source: string): Promise<string> {
  const said = await saidOf(source).catch((error: Error) => {
    // An error of Mermaid is part of an answer, and not thrown: here the page or its browser has ended.
    throw new RenderLimit('process', `Its browser failed: ${error.message}`);
  });
  if ('error' in said) throw mermaidInvalid(said.error);
  return said.svg;
}

async function saidOf(source: string): Promise<Said> {
  const page = await takePage();
  const said = (await page.evaluate(
    `(${drawInPage.toString()})(${JSON.stringify(source)}, ${JSON.stringify(SETTINGS)}, ${TOOLS_TEXT})`,
  )) as Said;
  void dropPage(page).catch(() => undefined);
  return said;
}

/** Runs in the page, with nothing of this file at hand. */
async function drawInPage(source: string, settings: object, tools: typeof TOOLS): Promise<unknown> {
  const page = globalThis as unknown as Page;
  try {
    tools.readEntities(page);
    tools.forgivePictures(page);
    page.mermaid.initialize(settings);
    const { svg } = await page.mermaid.render('diagram', source);
    const holder = page.document.createElement('div');
    holder.innerHTML = svg;
    const drawing = holder.querySelector('svg')!;
    tools.mendLabels(drawing);
    return { svg: new page.XMLSerializer().serializeToString(drawing) };
  } catch (error) {
    return { error: tools.plainError(error) };
  }
}
