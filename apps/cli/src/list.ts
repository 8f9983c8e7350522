import type { Api } from './api.js';
import type { ParsedArgs, OptionSpecs } from './arguments.js';
import { present, WATCH } from './ask.js';
import { type Column, tableOf } from './columns.js';
import type { Command, Declared, ExitCode, Tools } from './command.js';
import type { Screen } from './output.js';
import { sections } from './render/table.js';
import { NO_WORDS, type Words } from './words.js';

type Page = object & { readonly cursor?: string | null | undefined };
/** The items of an answer that has them in one field. */
type ItemOf<P, Key extends keyof P> = P[Key] extends readonly (infer Item)[] ? Item : never;

/** A command that prints a list of the API, page by page. */
export interface List<P extends Page, Key extends keyof P> extends Declared {
  readonly words?: Words;
  /** Default `/v1/` and the name of the command. */
  readonly path?: (words: readonly string[]) => string;
  /** The field of the answer that has the items. Default the name of the command. */
  readonly key?: Key;
  /** A number: the API takes a limit up to this. `cursor`: its pages have their own length. Otherwise there is one page. */
  readonly pages?: number | 'cursor';
  /** How many to show without `--limit`; default 50. */
  readonly shown?: number;
  /** Options that are sent as they are, by their names. */
  readonly filters?: OptionSpecs;
  readonly columns: readonly Column<ItemOf<P, Key>>[];
  /** What to print if there are no items. */
  readonly empty?: string;
  /** What to print above or below the table. */
  readonly above?: (page: P, screen: Screen) => string;
  readonly below?: (page: P, screen: Screen) => string;
}

const PAGED: OptionSpecs = {
  limit: { value: '<n>', description: 'how many to show' },
  all: { description: 'print all, page by page; with --json one line each' },
};

export function list<P extends Page, Key extends keyof P & string>(spec: List<P, Key>): Command {
  const { words = NO_WORDS, pages, filters = {}, columns, above, below, shown = 50 } = spec;
  const { name, path = () => `/v1/${name}`, key = name as Key, empty = `There are no such ${name}.` } = spec;
  const itemsOf = (page: P) => page[key] as readonly ItemOf<P, Key>[];
  return {
    ...spec,
    words,
    forms: [`${words.usage} [options]`.trim()],
    options: { ...filters, ...spec.options, ...(pages && PAGED), ...WATCH },
    run: async (parsed, tools) => {
      const at = path(words.read(parsed.words, spec.example));
      const fetchPage = pageReader<P>(tools.api, at, queryOf(parsed, filters), pages);
      if (parsed.has('all')) return printAll(fetchPage, tools);
      const limit = parsed.whole('limit', 1, 100_000) ?? shown;
      return present({ read: () => readUpTo(limit, fetchPage, tools), render }, parsed, tools);
    },
  };

  function render(page: P, screen: Screen): string {
    const items = itemsOf(page);
    const more = page.cursor ? screen.paint('dim', 'There are more: --limit <n> or --all shows them.') : '';
    const body = items.length > 0 ? tableOf(items, columns, screen) : above ? '' : empty;
    return sections(above?.(page, screen) ?? '', body, more, below?.(page, screen) ?? '');
  }

  /** A page may be empty and have a cursor: the API bounds the cost of each. */
  async function readUpTo(limit: number, fetchPage: PageReader<P>, { out }: Tools): Promise<P> {
    let page = await fetchPage(limit);
    for (let count = 1; page.cursor && itemsOf(page).length < limit; count += 1) {
      out.live(`Searching: ${count} pages, ${itemsOf(page).length} found`);
      const next = await fetchPage(limit - itemsOf(page).length, page.cursor);
      page = { ...next, [key]: [...itemsOf(page), ...itemsOf(next)] };
    }
    out.clearLive();
    return page;
  }

  /** Prints each page as it comes. */
  async function printAll(fetchPage: PageReader<P>, { out }: Tools): Promise<ExitCode> {
    let isEmpty = true;
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await fetchPage(Infinity, cursor);
      const items = itemsOf(page);
      if (out.isJson) for (const item of items) out.line(item);
      else if (items.length > 0) out.print(`${isEmpty ? '' : '\n'}${tableOf(items, columns, out.screen)}`);
      isEmpty &&= items.length === 0;
      cursor = page.cursor ?? null;
    }
    if (isEmpty && !out.isJson) out.print(empty);
    return 0;
  }
}

type PageReader<P> = (limit: number, cursor?: string) => Promise<P>;

function pageReader<P>(
  api: Api,
  path: string,
  query: Readonly<Record<string, string>>,
  pages: List<never, never>['pages'],
): PageReader<P> {
  return (limit, cursor) =>
    api.get<P>(path, {
      ...query,
      ...(typeof pages === 'number' && { limit: String(Math.min(limit, pages)) }),
      ...(cursor !== undefined && { cursor }),
    });
}

/** The options that are sent as they are. A flag is sent as `true`. */
export function queryOf(parsed: ParsedArgs, specs: OptionSpecs): Record<string, string> {
  const given = Object.entries(specs).filter(([name]) => parsed.has(name));
  return Object.fromEntries(given.map(([name, { value }]) => [name, value ? parsed.text(name)! : 'true']));
}
