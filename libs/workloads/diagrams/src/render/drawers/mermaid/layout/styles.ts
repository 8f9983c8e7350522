import {
  declaredIn,
  MEASURED,
  rulesOf,
  type Declared,
  type Measured,
  type SheetRule,
} from './sheet-rules.js';

/** What measuring an element needs to know of its style, as it is before any rule. */
const INITIAL = {
  fontSize: 16,
  isBold: false,
  isMono: false,
  anchor: 'start',
  baseline: 'auto',
  isShown: true,
};
export type Style = Readonly<typeof INITIAL>;

const NAMED_SIZES: Record<string, number> = {
  'xx-small': 9,
  'x-small': 10,
  small: 13,
  medium: 16,
  large: 18,
  'x-large': 24,
  'xx-large': 32,
};
/** Of its own unit in pixels; relative units stand beside. */
const UNITS: Record<string, number> = { '': 1, px: 1, pt: 4 / 3, rem: INITIAL.fontSize };

/** Of the font that comes along, in em. */
const X_HEIGHT = 0.547;

const rulesBySheet = new WeakMap<CSSStyleSheet, readonly SheetRule[]>();

/**
 * The cascade, for what measures. jsdom has one as well, but reads every rule for every element: too slow for drawings.
 *
 * Good for one measurement, as elements are moved and styled between two.
 */
export class Styles {
  private readonly known = new Map<Element, Style>();
  private rules: readonly SheetRule[] | undefined;

  of(element: Element): Style {
    const known = this.known.get(element);
    if (known) return known;
    const inherited = element.parentElement ? this.of(element.parentElement) : INITIAL;
    const style = styleFrom(this.declaredFor(element), inherited);
    this.known.set(element, style);
    return style;
  }

  /** From the weakest to the strongest. */
  private declaredFor(element: Element): Map<Measured, string> {
    const inline = declaredIn(element.getAttribute('style') ?? '');
    const rules = this.rulesOf(element).filter((rule) => means(rule, element));
    const declared = [...attributesOf(element), ...rules.flatMap((rule) => rule.declared), ...inline];
    const important = declared.filter(({ isImportant }) => isImportant);
    return new Map([...declared, ...important].map(({ name, value }) => [name, value]));
  }

  private rulesOf({ ownerDocument }: Element): readonly SheetRule[] {
    this.rules ??= [...ownerDocument.styleSheets].flatMap(rulesIn).toSorted((a, b) => a.weight - b.weight);
    return this.rules;
  }
}

function rulesIn(sheet: CSSStyleSheet): readonly SheetRule[] {
  const rules = rulesBySheet.get(sheet) ?? rulesOf(sheet.ownerNode?.textContent ?? '');
  rulesBySheet.set(sheet, rules);
  return rules;
}

function means({ classes, element: name, selector }: SheetRule, element: Element): boolean {
  if (name !== undefined && name !== element.localName) return false;
  if (!classes.every((each) => element.classList.contains(each))) return false;
  try {
    return element.matches(selector);
  } catch {
    // A selector that cannot be read means nothing.
    return false;
  }
}

function attributesOf(element: Element): Declared[] {
  return MEASURED.flatMap((name) => {
    const value = element.getAttribute(name);
    return value === null ? [] : { name, value, isImportant: false };
  });
}

function styleFrom(declared: ReadonlyMap<Measured, string>, inherited: Style): Style {
  const weight = declared.get('font-weight');
  const family = declared.get('font-family');
  return {
    fontSize: sizeFrom(declared.get('font-size'), inherited.fontSize),
    isBold: isGiven(weight) ? /bold|[6-9]00/.test(weight) : inherited.isBold,
    isMono: isGiven(family) && !family.includes('var(') ? /mono|courier/i.test(family) : inherited.isMono,
    anchor: givenOr(declared.get('text-anchor'), inherited.anchor),
    baseline: givenOr(
      declared.get('dominant-baseline') ?? declared.get('alignment-baseline'),
      inherited.baseline,
    ),
    isShown: inherited.isShown && declared.get('display') !== 'none',
  };
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== '' && value !== 'inherit';
}

function givenOr(value: string | undefined, otherwise: string): string {
  return isGiven(value) ? value : otherwise;
}

function sizeFrom(value: string | undefined, inherited: number): number {
  if (!isGiven(value)) return inherited;
  if (Object.hasOwn(NAMED_SIZES, value)) return NAMED_SIZES[value]!;
  const [, number, unit = ''] = /^([\d.]+)(px|pt|rem|em|ex|%)?$/.exec(value) ?? [];
  const size = Number(number);
  if (!Number.isFinite(size)) return inherited;
  if (unit === 'em') return size * inherited;
  if (unit === 'ex') return size * inherited * X_HEIGHT;
  if (unit === '%') return (size / 100) * inherited;
  return size * UNITS[unit]!;
}
