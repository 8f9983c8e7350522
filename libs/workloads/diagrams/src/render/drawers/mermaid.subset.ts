import { renderMermaidSVG } from 'beautiful-mermaid';
import { DiagramInvalid } from '../errors.js';
import type { Drawer } from './drawer.js';
import { flatten } from './flatten.js';
import { load as loadSyntax } from './mermaid.syntax.js';

/** The types it does not know are drawn as something else, or not at all. */
const KNOWN =
  /^(flowchart|graph|stateDiagram(-v2)?|sequenceDiagram|classDiagram(-v2)?|erDiagram|xychart(-beta)?)\b/;

/** Its own is too pale on white. */
const THEME = {
  font: 'DejaVu Sans',
  fg: '#1f2933',
  line: '#52606d',
  accent: '#334e68',
  muted: '#3e4c59',
  surface: '#eef4fb',
  border: '#6b8cae',
};

/** The commonest types of Mermaid, without a browser. It takes what Mermaid does not, so Mermaid reads it first. */
export async function load(): Promise<Drawer> {
  const { check } = await loadSyntax();
  return {
    check: check!,
    async draw(source) {
      await check!(source);
      if (!KNOWN.test(firstWords(source))) {
        throw new DiagramInvalid('This type of Mermaid diagram is drawn only where there is a Chromium.');
      }
      return flatten(renderMermaidSVG(source, THEME));
    },
  };
}

/** Without front matter, directives and comments. */
function firstWords(source: string): string {
  return source
    .replace(/^\s*---\r?\n[^]*?\r?\n---/, '')
    .replace(/%%.*$/gm, '')
    .trim();
}
