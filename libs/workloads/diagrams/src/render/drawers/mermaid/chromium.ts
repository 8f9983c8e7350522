import { dropPage, takePage } from '../browser/browser.js';
import { RenderLimit } from '../errors.js';
import type { Drawer } from './drawer.js';
import { mermaidInvalid, plainError } from './mermaid.invalid.js';

interface Mermaid {
  initialize(config: object): void;
  render(id: string, source: string): Promise<{ svg: string }>;
}

/** What the page has; this file knows no other DOM. */
interface InPage {
  readonly mermaid: Mermaid;
  readonly document: {
    createElement(name: string): { innerHTML: string; querySelector(name: string): object | null };
  };
  readonly XMLSerializer: new () => { serializeToString(node: object): string };
}

type Said = { readonly svg: string } | { readonly error: ReturnType<typeof plainError> };

/** `secure` are the settings that a source cannot change. */
const CONFIG = {
  startOnLoad: false,
  securityLevel: 'strict',
  htmlLabels: false,
  flowchart: { htmlLabels: false },
  class: { htmlLabels: false },
  state: { htmlLabels: false },
  fontFamily: '"DejaVu Sans", Verdana, sans-serif',
  maxTextSize: 200_000,
  maxEdges: 2_000,
  suppressErrorRendering: true,
  secure: [
    'secure',
    'securityLevel',
    'startOnLoad',
    'maxTextSize',
    'maxEdges',
    'suppressErrorRendering',
    'htmlLabels',
    'fontFamily',
    'dompurifyConfig',
  ],
};

export function load(): Drawer {
  return { draw };
}

async function draw(source: string): Promise<string> {
  const said = await saidOf(source).catch(browserFailed);
  if ('error' in said) throw mermaidInvalid(said.error);
  return said.svg;
}

async function saidOf(source: string): Promise<Said> {
  const page = await takePage();
  const said = (await page.evaluate(
    `(${inPage.toString()})(${JSON.stringify(source)}, ${JSON.stringify(CONFIG)}, ${plainError.toString()})`,
  )) as Said;
  void dropPage(page).catch(() => undefined);
  return said;
}

/** What Mermaid finds wrong is said, and not thrown: here the page or its browser has ended. */
function browserFailed(error: Error): never {
  throw new RenderLimit('process', `Its browser failed: ${error.message}`);
}

/** Runs in the page, with nothing of this file at hand. */
async function inPage(source: string, config: object, plain: (error: unknown) => Said): Promise<unknown> {
  const { mermaid, document, XMLSerializer } = globalThis as unknown as InPage;
  try {
    mermaid.initialize(config);
    const { svg } = await mermaid.render('diagram', source);
    const holder = document.createElement('div');
    holder.innerHTML = svg;
    return { svg: new XMLSerializer().serializeToString(holder.querySelector('svg')!) };
  } catch (error) {
    return { error: plain(error) };
  }
}
