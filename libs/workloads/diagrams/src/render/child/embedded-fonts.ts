import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unescaped } from '../escape.js';
import { openTypeNamed } from './open-type.js';

/** The fonts that a drawing brings along, as files for as long as it is drawn. */
export interface EmbeddedFonts {
  /** By the names that the drawing uses. */
  readonly families: ReadonlySet<string>;
  readonly files: readonly string[];
}

const FACE = /@font-face\{([^}]*)\}/g;
const FAMILY = /font-family:\s*(?:&quot;)?([^;&}]+)/;
const DATA = /base64,([A-Za-z0-9+/=\s]+)/;
const MOST = 20;

/** Calls `use` with the fonts of a safe drawing; where it knows no folder for them, with none. */
export function withEmbeddedFonts<T>(
  svg: string,
  folder: string | undefined,
  use: (fonts: EmbeddedFonts) => T,
): T {
  const families = new Set<string>();
  const files: string[] = [];
  try {
    for (const [family, font] of folder === undefined ? [] : fontsIn(svg)) {
      const file = join(folder!, `${files.length}.ttf`);
      files.push(file);
      writeFileSync(file, font);
      families.add(family);
    }
    return use({ families, files });
  } finally {
    for (const file of files) rmSync(file, { force: true });
  }
}

function fontsIn(svg: string): [family: string, font: Buffer][] {
  const faces = [...svg.matchAll(FACE)].slice(0, MOST);
  return faces.flatMap(([, face]): [string, Buffer][] => {
    const family = unescaped(FAMILY.exec(face!)?.[1] ?? '').trim();
    const data = DATA.exec(face!)?.[1];
    if (family === '' || data === undefined) return [];
    try {
      return [[family, openTypeNamed(family, Buffer.from(data, 'base64'))]];
    } catch {
      // Another kind, or broken: one of ours takes its place.
      return [];
    }
  });
}
