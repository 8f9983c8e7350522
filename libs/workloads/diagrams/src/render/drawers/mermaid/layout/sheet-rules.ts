import { generate, parse, type CssNode, type Selector } from 'css-tree';

/** What decides how large an element is. */
export const MEASURED = [
  'font-size',
  'font-weight',
  'font-family',
  'text-anchor',
  'dominant-baseline',
  'alignment-baseline',
  'display',
] as const;
export type Measured = (typeof MEASURED)[number];

export interface Declared {
  readonly name: Measured;
  readonly value: string;
  readonly isImportant: boolean;
}

/** One selector of a rule, with those of its declarations that measure. */
export interface SheetRule {
  readonly selector: string;
  /** Ids count 10,000, classes 100, element names 1. */
  readonly weight: number;
  /** What the element itself must have: looked at first, for most rules mean others. */
  readonly classes: readonly string[];
  readonly element: string | undefined;
  readonly declared: readonly Declared[];
}

export function rulesOf(sheet: string): SheetRule[] {
  const tree = parse(sheet, { parseValue: false });
  if (tree.type !== 'StyleSheet') return [];
  return tree.children.toArray().flatMap(rulesIn);
}

/** Of a `style` attribute. */
export function declaredIn(style: string): Declared[] {
  const tree = parse(style, { context: 'declarationList', parseValue: false });
  return tree.type === 'DeclarationList' ? tree.children.toArray().flatMap(declaredBy) : [];
}

function rulesIn(node: CssNode): SheetRule[] {
  if (node.type !== 'Rule' || node.prelude.type !== 'SelectorList') return [];
  const declared = node.block.children.toArray().flatMap(declaredBy);
  if (declared.length === 0) return [];
  return node.prelude.children.toArray().map((selector) => ruleFor(selector as Selector, declared));
}

function declaredBy(node: CssNode): Declared[] {
  if (node.type !== 'Declaration') return [];
  const name = MEASURED.find((each) => each === node.property.toLowerCase());
  if (!name) return [];
  return [{ name, value: generate(node.value).trim(), isImportant: node.important !== false }];
}

function ruleFor(selector: Selector, declared: readonly Declared[]): SheetRule {
  const parts = selector.children.toArray();
  const own = parts.slice(parts.findLastIndex(({ type }) => type === 'Combinator') + 1);
  return {
    selector: generate(selector),
    weight: parts.reduce((sum, part) => sum + weightOf(part), 0),
    classes: own.flatMap((part) => (part.type === 'ClassSelector' ? part.name : [])),
    element: own.flatMap((part) => (part.type === 'TypeSelector' && part.name !== '*' ? part.name : []))[0],
    declared,
  };
}

function weightOf({ type }: CssNode): number {
  if (type === 'IdSelector') return 10_000;
  if (type === 'ClassSelector' || type === 'AttributeSelector' || type === 'PseudoClassSelector') return 100;
  return type === 'TypeSelector' ? 1 : 0;
}
