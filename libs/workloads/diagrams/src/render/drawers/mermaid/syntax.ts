import type { Drawer } from '../drawer.js';
import { mermaidInvalid, plainError } from './invalid.js';
import { plainSource } from './plain-source.js';
import { SETTINGS } from './settings.js';
import { openWindow } from './window.js';

/** Mermaid's parsers alone: a check before a diagram is queued need not wait for one that is drawn. */
export async function load(): Promise<Drawer> {
  openWindow();
  const { default: mermaid } = await import('mermaid');
  mermaid.initialize(SETTINGS);

  const check = async (source: string): Promise<void> => {
    try {
      await mermaid.parse(plainSource(source));
    } catch (error) {
      if (error instanceof RangeError) throw error;
      throw mermaidInvalid(plainError(error));
    }
  };
  return { check, draw: () => Promise.reject(new Error('This process only checks.')) };
}
