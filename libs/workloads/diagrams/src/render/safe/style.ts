import {
  generate,
  parse,
  walk,
  type Atrule,
  type CssNode,
  type Declaration,
  type List,
  type ListItem,
  type WalkContext,
} from 'css-tree';
import { isFont, isOwnPart, isPicture } from './links.js';
import { FONT_PROPERTIES, FUNCTIONS, PROPERTIES } from './svg-allowlist.js';

/** A style sheet without what is not known to be harmless. */
export function safeSheet(text: string): string {
  return cleaned(text, 'stylesheet');
}

/** The value of a `style` attribute. */
export function safeDeclarations(text: string): string {
  return cleaned(text, 'declarationList');
}

/** Whether the value of an attribute that is a CSS property may stay. Most are a number or a word. */
export function isSafeValue(text: string): boolean {
  if (!/[(\\@]/.test(text)) return true;
  // Other checks of the style read no escapes.
  if (/\\/.test(text)) return false;
  try {
    return isHarmless(parse(text, { context: 'value' }), false);
  } catch {
    return false;
  }
}

function cleaned(text: string, context: 'stylesheet' | 'declarationList'): string {
  // What it cannot read it keeps as raw text, which may not stay.
  const tree = parse(text, { context, parseCustomProperty: true });
  walk(tree, {
    enter(this: WalkContext, node: CssNode, item: ListItem<CssNode>, list: List<CssNode>) {
      if (list && item && !mayStay(node, this.atrule)) list.remove(item);
    },
  });
  return generate(tree);
}

function mayStay(node: CssNode, within: Atrule | null): boolean {
  if (node.type === 'Atrule') return isKnownRule(node);
  if (node.type === 'Declaration') return isKnown(node, within?.name.toLowerCase() === 'font-face');
  return !['Raw', 'CDO', 'CDC', 'Comment'].includes(node.type);
}

function isKnownRule({ name, block, prelude }: Atrule): boolean {
  if (!block) return false;
  if (name === 'font-face') return true;
  return name === 'media' && (!prelude || isHarmless(prelude, false));
}

function isKnown({ property, value }: Declaration, inFont: boolean): boolean {
  const name = property.toLowerCase();
  const isNamed = PROPERTIES.has(name) || name.startsWith('--') || (inFont && FONT_PROPERTIES.has(name));
  return isNamed && isHarmless(value, inFont);
}

function isHarmless(value: CssNode, inFont: boolean): boolean {
  let isGood = true;
  walk(value, (node) => {
    if (node.type === 'Url')
      isGood &&= inFont ? isFont(node.value) : isOwnPart(node.value) || isPicture(node.value);
    if (node.type === 'Function') isGood &&= FUNCTIONS.has(node.name.toLowerCase());
    if (node.type === 'Raw') isGood = false;
  });
  return isGood;
}
