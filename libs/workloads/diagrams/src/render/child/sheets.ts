import { generate, parse, walk, type CssNode, type List, type Selector } from 'css-tree';
import { escaped, unescaped } from '../escape.js';

/*
 * The PNG rasterizer reads the selectors of a rule only up to the first unknown one: a hollow triangle would turn black. Here the
 * known selectors come first, and a part selected by the end of its id gets its whole id. Invalid line widths are left out.
 */

const SHEET = /(<style\b[^>]*>)([^]*?)(<\/style>)/g;
const ID = / id="([^"]*)"/g;
/** An id takes the place of a few letters: no sheet becomes much longer. */
const LONGEST_ID = 100;

/** For a sanitized drawing, whose sheets have been parsed and serialized before. */
export function withPlainSheets(svg: string): string {
  const ids = [...new Set([...svg.matchAll(ID)].map(([, id]) => id!))];
  return svg.replace(SHEET, (_, open: string, sheet: string, close: string) => {
    return `${open}${escaped(plainSheet(unescaped(sheet), ids))}${close}`;
  });
}

function plainSheet(sheet: string, ids: readonly string[]): string {
  const tree = parse(sheet, { parseValue: false });
  walk(tree, (node) => {
    if (node.type === 'Selector') nameParts(node, ids);
  });
  walk(tree, (node, item, list) => {
    if (isVoid(node)) list?.remove(item);
    if (node.type === 'SelectorList') putLast(node.children, (selector) => !isKnown(selector as Selector));
  });
  return generate(tree);
}

/** Browsers pass over a width below nothing; what draws a PNG draws no line then. */
function isVoid(node: CssNode): boolean {
  return (
    node.type === 'Declaration' && node.property === 'stroke-width' && /^\s*-/.test(generate(node.value))
  );
}

/** As in `[id$="-arrowhead"]`. */
function nameParts({ children }: Selector, ids: readonly string[]): void {
  children.forEach((node, item) => {
    if (node.type !== 'AttributeSelector' || node.matcher !== '$=' || node.name.name !== 'id') return;
    const end = node.value?.type === 'String' ? node.value.value : '';
    const [id, ...others] = ids.filter((each) => end !== '' && each.endsWith(end));
    if (id && others.length === 0 && id.length <= LONGEST_ID) item.data = { type: 'IdSelector', name: id };
  });
}

function isKnown({ children }: Selector): boolean {
  return children.toArray().every((node) => {
    if (node.type === 'AttributeSelector') return !/^[\^$*]=$/.test(node.matcher ?? '');
    if (node.type === 'PseudoClassSelector') return node.name === 'first-child';
    return node.type !== 'PseudoElementSelector' && !(node.type === 'Combinator' && node.name === '~');
  });
}

/** In a list the order of selectors says nothing. */
function putLast(list: List<CssNode>, isLast: (node: CssNode) => boolean): void {
  const all = list.toArray();
  list.fromArray([...all.filter((node) => !isLast(node)), ...all.filter(isLast)]);
}
