import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../support/browser.js';
import { Fleet } from '../support/fleet.js';
import type { TestProcess } from '../support/process.js';

const JOBS = 100_000;
const PER_SECOND = 1_000;
const OPEN_MS = Number(process.env['CONSOLE_OPEN_MS'] ?? 600_000);
const TICKS_PER_SECOND = 100;

/** Seconds of processor time that a process has used. */
function processorSeconds({ pid }: TestProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

describe('the console beside 100,000 jobs and live traffic', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start({
      workers: 1,
      janitor: true,
      env: { MAX_WAITING: '200000', WORKER_CONCURRENCY: '50' },
    });
    for (let i = 0; i < JOBS; i += 1_000) await enqueue(1_000, { delay: '2h' }, i);
  }, 600_000);
  afterAll(() => fleet.stop(), 120_000);

  async function enqueue(count: number, more: object = {}, from = 0): Promise<void> {
    const jobs = Array.from({ length: count }, (_, i) => ({
      kind: 'probe',
      owners: [`trip:${(from + i) % 5_000}`],
      payload: {},
      ...more,
    }));
    await fleet.request('POST', '/v1/jobs/batch', { jobs });
  }

  it.each([
    ['the overview', ''],
    ['the list of jobs', 'jobs'],
  ])(
    'uses little of the api, and the tab does not grow, with %s open',
    async (_, path) => {
      // This api serves the console alone.
      const api = fleet.addApi();
      await fleet.untilReady(api);
      const browser = await Browser.open(`${api.url}/console#/${path}`, 1280, 860);
      try {
        await browser.untilText('main table', /probe/);
        const traffic = new AbortController();
        const sent = send(traffic.signal);
        await pause(OPEN_MS / 4);
        const [heap, used, began] = [await browser.heapBytes(), processorSeconds(api), performance.now()];
        await pause((OPEN_MS * 3) / 4);
        const share = (processorSeconds(api) - used) / ((performance.now() - began) / 1_000);
        const growth = (await browser.heapBytes()) - heap;
        traffic.abort();
        const rate = (await sent) / (OPEN_MS / 1_000);
        console.log({ path, share, growth, heap, rate });
        expect(share).toBeLessThan(0.05);
        expect(growth).toBeLessThan(1_000_000);
        expect(browser.complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    OPEN_MS + 120_000,
  );

  /** Answers how many jobs it has enqueued, as near to the rate as this machine allows. */
  async function send(signal: AbortSignal): Promise<number> {
    let sent = 0;
    while (!signal.aborted) {
      const until = performance.now() + 100;
      await enqueue(PER_SECOND / 10, {}, sent);
      sent += PER_SECOND / 10;
      await pause(Math.max(0, until - performance.now()));
    }
    return sent;
  }
});
