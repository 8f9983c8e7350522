import { parseFragment } from 'parse5';
import { escaped } from '../escape.js';

const XML = new Set(['quot', 'amp', 'lt', 'gt', 'apos']);

/** Markup in which only names are left that XML knows. One that HTML does not know either is text, as in a browser. */
export function withPlainEntities(markup: string): string {
  return markup.replace(/&([A-Za-z]\w*);/g, (entity, name: string) =>
    XML.has(name) ? entity : escaped(textOf(entity)),
  );
}

function textOf(entity: string): string {
  const [node] = parseFragment(entity).childNodes;
  return node && 'value' in node ? node.value : entity;
}
