import { EVERY, keysOfElement, shownBySheet } from './selectors.js';

/** A piece of a drawing that others may show again, and what it shows again itself. */
interface Part {
  readonly element: string;
  elements: number;
  readonly inner: Part[];
  readonly shows: string[];
  /** Of each of its elements, by what a sheet may make it show parts. */
  readonly keys: string[];
  /** Whether it is inside an element of ENDS. */
  readonly isEnd: boolean;
  weight?: number;
}

type Shown = Map<string, Set<string>>;

const POINTS_TO = /url\(\s*['"]?#([^'")\s]+)/gi;
/** What these show is drawn without what a sheet says of it: no chain can be made of them. */
const ENDS = new Set(['linearGradient', 'radialGradient', 'filter', 'marker']);

/** Counts what a reader would have to draw: a few references to references make a million of ten elements. */
export class Parts {
  private readonly root = part('svg');
  private readonly named = new Map<string, Part>();
  private readonly open: Part[] = [this.root];
  private readonly shownBy: Shown = new Map();
  private elements = 0;

  enter(element: string, attributes: ReadonlyMap<string, string>): void {
    const here = this.open.at(-1)!;
    const id = attributes.get('id');
    const own = id === undefined ? here : part(element, here);
    if (id !== undefined) {
      here.inner.push(own);
      if (!this.named.has(id)) this.named.set(id, own);
    }
    own.elements += 1;
    this.elements += 1;
    own.shows.push(...references(element, attributes));
    if (!own.isEnd) own.keys.push(...keysOfElement(element, attributes));
    this.open.push(own);
  }

  leave(): void {
    this.open.pop();
  }

  style(sheet: string): void {
    for (const [key, ids] of shownBySheet(sheet))
      this.shownBy.set(key, new Set([...(this.shownBy.get(key) ?? []), ...ids]));
  }

  /** Without an end, when a part shows itself, or might. */
  get total(): number {
    let total = this.weigh(this.root);
    for (const id of this.shownBy.get(EVERY) ?? []) {
      const shown = this.named.get(id);
      if (shown) total += ENDS.has(shown.element) ? this.weigh(shown) * this.elements : Infinity;
    }
    return total;
  }

  private weigh(one: Part): number {
    if (one.weight !== undefined) return one.weight;
    // Met again before it is known: it is inside itself.
    one.weight = Infinity;
    let weight = one.elements;
    for (const each of one.inner) weight += this.weigh(each);
    for (const id of this.shownIn(one)) {
      const shown = this.named.get(id);
      if (shown) weight += this.weigh(shown);
    }
    return (one.weight = weight);
  }

  private *shownIn({ shows, keys }: Part): Generator<string> {
    yield* shows;
    for (const key of keys) yield* this.shownBy.get(key) ?? [];
  }
}

function part(element: string, around?: Part): Part {
  const isEnd = around?.isEnd === true || ENDS.has(element);
  return { element, elements: 0, inner: [], shows: [], keys: [], isEnd };
}

function references(element: string, attributes: ReadonlyMap<string, string>): string[] {
  const href = attributes.get('href');
  const found = element !== 'a' && href?.startsWith('#') ? [href.slice(1)] : [];
  return [...found, ...[...attributes.values()].flatMap(namesIn)];
}

function namesIn(text: string): string[] {
  return text.includes('(') ? [...text.matchAll(POINTS_TO)].map(([, id]) => id!) : [];
}
