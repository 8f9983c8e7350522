import type { Redis } from 'ioredis';
import { median } from '../harness/median.js';
import type { Prober } from '../harness/prober.js';
import type { Waited } from '../harness/prober.process.js';
import type { List } from './lists.js';

const PAGES = 100;
/** Scripts that take longer are in the slow log, µs. */
const SLOW_US = 500;

/** What the pages of a list cost. */
export interface Cost {
  readonly path: string;
  /** Median of the rounds. */
  readonly firstMs: number;
  /** The hundredth page, or the last one. Median of the rounds. */
  readonly lastMs: number;
  readonly worstMs: number;
  readonly pages: number;
  readonly found: number;
  /** The longest step of the store, by its own clock, µs; less than that of the slow log is 0. */
  readonly longestUs: number;
  readonly stall: Waited;
}

interface Page {
  readonly ms: number;
  readonly found: number;
  readonly cursor: string | null;
}

/** Reads lists over HTTP page by page, while another client of the store measures how long it waits. */
export class Pages {
  constructor(
    private readonly base: string,
    private readonly redis: Redis,
    private readonly prober: Prober,
    private readonly rounds: number,
  ) {}

  async read(list: List): Promise<Cost> {
    await this.page(list, null);
    await this.redis.config('SET', 'slowlog-log-slower-than', SLOW_US);
    await this.redis.slowlog('RESET');
    const { answer, waited } = await this.prober.during(() => this.walk(list));
    const slow = (await this.redis.slowlog('GET', 1_000)) as [number, number, number][];
    const longestUs = Math.max(0, ...slow.map(([, , us]) => us));
    return { path: list.path, ...answer, longestUs, stall: waited };
  }

  private async walk(list: List): Promise<Omit<Cost, 'path' | 'longestUs' | 'stall'>> {
    const pages: Page[] = [];
    let from: string | null = null;
    let last: string | null = null;
    do {
      last = from;
      const page = await this.page(list, from);
      pages.push(page);
      from = page.cursor;
    } while (from !== null && pages.length < PAGES);
    return {
      firstMs: await this.medianOf(list, null),
      lastMs: await this.medianOf(list, last),
      worstMs: Math.max(...pages.map(({ ms }) => ms)),
      pages: pages.length,
      found: pages.reduce((sum, { found }) => sum + found, 0),
    };
  }

  private async medianOf(list: List, cursor: string | null): Promise<number> {
    const times: number[] = [];
    for (let round = 0; round < this.rounds; round += 1) times.push((await this.page(list, cursor)).ms);
    return median(times);
  }

  private async page({ path, items, isWhole }: List, cursor: string | null): Promise<Page> {
    const start = performance.now();
    const more = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await fetch(`${this.base}${path}${more}`);
    const body = (await answer.json()) as Record<string, unknown>;
    const ms = performance.now() - start;
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
    const found = (body[items] as unknown[]).length;
    return { ms, found, cursor: isWhole ? null : ((body['cursor'] ?? null) as string | null) };
  }
}
