/** A piece of a drawing that others may show again, and what it shows again itself. */
interface Part {
  elements: number;
  readonly inner: Part[];
  readonly shows: string[];
  weight?: number;
}

const POINTS_TO = /url\(\s*['"]?#([^'")\s]+)/g;

/** Counts what a reader would have to draw: a few references to references make a million of ten elements. */
export class Parts {
  private readonly root = part();
  private readonly named = new Map<string, Part>();
  private readonly open: Part[] = [this.root];

  enter(element: string, attributes: ReadonlyMap<string, string>): void {
    const here = this.open.at(-1)!;
    const id = attributes.get('id');
    const own = id === undefined ? here : part();
    if (id !== undefined) {
      here.inner.push(own);
      if (!this.named.has(id)) this.named.set(id, own);
    }
    own.elements += 1;
    own.shows.push(...references(element, attributes));
    this.open.push(own);
  }

  leave(): void {
    this.open.pop();
  }

  /** Without an end, when a part shows itself. */
  get total(): number {
    return this.weigh(this.root);
  }

  private weigh(one: Part): number {
    if (one.weight !== undefined) return one.weight;
    // Met again before it is known: it is inside itself.
    one.weight = Infinity;
    let weight = one.elements;
    for (const each of one.inner) weight += this.weigh(each);
    for (const name of one.shows) {
      const shown = this.named.get(name);
      if (shown) weight += this.weigh(shown);
    }
    return (one.weight = weight);
  }
}

function part(): Part {
  return { elements: 0, inner: [], shows: [] };
}

function references(element: string, attributes: ReadonlyMap<string, string>): string[] {
  const href = attributes.get('href');
  const found = element !== 'a' && href?.startsWith('#') ? [href.slice(1)] : [];
  for (const value of attributes.values()) {
    if (value.includes('url(')) found.push(...[...value.matchAll(POINTS_TO)].map(([, id]) => id!));
  }
  return found;
}
