import { JSDOM } from 'jsdom';
import type { Drawer } from './drawer.js';
import { mermaidInvalid } from './mermaid.invalid.js';

/** Mermaid itself, as far as it goes without a browser: it reads, and draws nothing. */
export async function load(): Promise<Drawer> {
  const { window } = new JSDOM('');
  Object.assign(globalThis, { window, document: window.document });
  const { default: mermaid } = await import('mermaid');
  mermaid.initialize({ startOnLoad: false, securityLevel: 'strict' });

  const check = async (source: string): Promise<void> => {
    try {
      await mermaid.parse(source);
    } catch (error) {
      if (error instanceof RangeError) throw error;
      throw mermaidInvalid(error);
    }
  };
  return { check, draw: () => Promise.reject(new Error('Mermaid draws in a browser.')) };
}
