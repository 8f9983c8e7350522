/** A piece of a drawing that others may show again, and what it shows again itself. */
interface Part {
  readonly element: string;
  elements: number;
  readonly inner: Part[];
  readonly shows: string[];
  weight?: number;
}

const POINTS_TO = /url\(\s*['"]?#([^'")\s]+)/gi;
/** What these show is drawn without what a sheet says of it: no chain can be made of them. */
const ENDS = new Set(['linearGradient', 'radialGradient', 'filter', 'marker']);

/** Counts what a reader would have to draw: a few references to references make a million of ten elements. */
export class Parts {
  private readonly root = part('svg');
  private readonly named = new Map<string, Part>();
  private readonly open: Part[] = [this.root];
  private readonly byStyle = new Set<string>();
  private elements = 0;

  enter(element: string, attributes: ReadonlyMap<string, string>): void {
    const here = this.open.at(-1)!;
    const id = attributes.get('id');
    const own = id === undefined ? here : part(element);
    if (id !== undefined) {
      here.inner.push(own);
      if (!this.named.has(id)) this.named.set(id, own);
    }
    own.elements += 1;
    this.elements += 1;
    own.shows.push(...references(element, attributes));
    this.open.push(own);
  }

  leave(): void {
    this.open.pop();
  }

  /** Which elements a sheet means is not looked at: it may be each. */
  style(sheet: string): void {
    for (const name of namesIn(sheet)) this.byStyle.add(name);
  }

  /** Without an end, when a part shows itself, or might. */
  get total(): number {
    let total = this.weigh(this.root);
    for (const name of this.byStyle) {
      const shown = this.named.get(name);
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
    for (const name of one.shows) {
      const shown = this.named.get(name);
      if (shown) weight += this.weigh(shown);
    }
    return (one.weight = weight);
  }
}

function part(element: string): Part {
  return { element, elements: 0, inner: [], shows: [] };
}

function references(element: string, attributes: ReadonlyMap<string, string>): string[] {
  const href = attributes.get('href');
  const found = element !== 'a' && href?.startsWith('#') ? [href.slice(1)] : [];
  return [...found, ...[...attributes.values()].flatMap(namesIn)];
}

function namesIn(text: string): string[] {
  return text.includes('(') ? [...text.matchAll(POINTS_TO)].map(([, id]) => id!) : [];
}
