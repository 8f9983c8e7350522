import { parse, walk, type CssNode, type Selector } from 'css-tree';

/** Stands for every element. */
export const EVERY = '*';

/**
 * Which parts a sheet makes elements show, by what its selectors end with: `.class`, `#id`, the name of an element, or EVERY where
 * that is not known. An element may match a key and not the whole selector: then it counts as one that shows the part.
 */
export function shownBySheet(sheet: string): Map<string, Set<string>> {
  const shown = new Map<string, Set<string>>();
  walk(parse(sheet, { parseCustomProperty: true }), {
    visit: 'Rule',
    enter({ prelude, block }) {
      for (const [id, isVariable] of partsNamedIn(block)) {
        for (const key of isVariable ? [EVERY] : keysOf(prelude)) {
          shown.set(key, (shown.get(key) ?? new Set()).add(id));
        }
      }
    },
  });
  return shown;
}

/** What an element is matched by: the keys that a selector's last part may have. */
export function keysOfElement(name: string, attributes: ReadonlyMap<string, string>): string[] {
  const classes = attributes.get('class')?.split(/\s+/).filter(Boolean) ?? [];
  const id = attributes.get('id');
  return [name, ...classes.map((each) => `.${each}`), ...(id === undefined ? [] : [`#${id}`])];
}

/** With whether it is a variable's value, which any element may use. */
function partsNamedIn(block: CssNode): [id: string, isVariable: boolean][] {
  const found: [string, boolean][] = [];
  walk(block, {
    visit: 'Declaration',
    enter({ property, value }) {
      walk(value, (node) => {
        if (node.type === 'Url' && node.value.startsWith('#'))
          found.push([node.value.slice(1), property.startsWith('--')]);
      });
    },
  });
  return found;
}

function keysOf(prelude: CssNode): string[] {
  return prelude.type === 'SelectorList' ? prelude.children.toArray().map(keyOf) : [EVERY];
}

function keyOf(selector: CssNode): string {
  const nodes = (selector as Selector).children.toArray();
  const last = nodes.slice(nodes.findLastIndex(({ type }) => type === 'Combinator') + 1);
  for (const node of last) {
    // A name with an escape is not compared letter by letter.
    if (!('name' in node) || typeof node.name !== 'string' || /[\\|*]/.test(node.name)) continue;
    if (node.type === 'ClassSelector') return `.${node.name}`;
    if (node.type === 'IdSelector') return `#${node.name}`;
    if (node.type === 'TypeSelector' && last.length === 1) return node.name;
  }
  return EVERY;
}
