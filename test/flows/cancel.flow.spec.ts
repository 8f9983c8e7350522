import type { HistoryView } from '#http';
import type { ReceiptView } from '#nestjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { until } from '../support/until.js';

describe('a cancellation', () => {
  let fleet: Fleet;
  /** Names of the current test: an owner, its path, and a cancelId. */
  let owner: string;
  let path: string;
  let cancelId: string;
  let tests = 0;
  beforeEach(() => {
    tests += 1;
    owner = `trip:${tests}`;
    path = addressOf(owner);
    cancelId = `c-${tests}`;
  });
  afterEach(async () => {
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      await cancel({ reason: 'the end of the test' });
    }
  });

  describe('without a worker', () => {
    beforeAll(async () => {
      fleet = await Fleet.start({ workers: 0 });
    });
    afterAll(() => fleet.stop());

    it('removes waiting and delayed jobs from their queue and its index, and counts them', async () => {
      const waiting = await probe();
      await probe({}, { delay: '1h' });
      const other = await probe({}, { owners: [`${owner}-other`] });
      const receipt = await cancel({ reason: 'called off', cancelId });
      expect(receipt).toEqual({
        cancelId,
        owner,
        epoch: expect.stringMatching(/^\d+$/),
        reason: 'called off',
        by: 'api',
        at: expect.any(String),
        closed: true,
        removed: 2,
        aborted: 0,
        acknowledged: 0,
        ignored: 0,
        running: 0,
        byQueue: { probe: { removed: { waiting: 1, delayed: 1 }, aborted: 0, running: 0 } },
        schedules: 0,
        done: true,
        durable: false,
      });
      expect(await fleet.job(waiting)).toMatchObject({
        state: 'removed',
        kind: 'probe',
        owners: [owner],
        error: 'cancelled by api: called off (it was waiting)',
        why: 'cancelled by api: called off (it was waiting)',
        timeline: [{ event: 'removed', why: 'cancelled by api: called off (it was waiting)' }],
      });
      expect(await fleet.job(other)).toMatchObject({ state: 'waiting' });
      expect((await fleet.request('GET', path)).body).toMatchObject({ state: 'closed', jobs: [] });
      await cancel({ reason: 'tidy' }, `${path}-other`);
    });

    it('returns the same receipt for the same cancelId, and cancels nothing more', async () => {
      await probe();
      const first = await cancel({ reason: 'a', cancelId, close: false });
      const later = await probe();
      expect(await cancel({ reason: 'a', cancelId, close: false })).toEqual(first);
      expect((await fleet.request('GET', `/v1/cancellations/${cancelId}`)).body).toEqual(first);
      expect(await fleet.job(later)).toMatchObject({ state: 'waiting' });
      const other = await fleet.request('POST', `${path}-other/cancel`, {
        reason: 'a',
        cancelId,
      });
      expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_CONFLICT' } });
      await cancel({ reason: 'tidy' });
    });

    it('closes the owner until it is reopened; earlier jobs stay removed', async () => {
      const old = await probe();
      await cancel({ reason: 'over' });
      const refused = await fleet.request('POST', '/v1/jobs', {
        kind: 'probe',
        owners: [owner],
        payload: {},
      });
      expect(refused).toMatchObject({ status: 409, body: { code: 'OWNER_CLOSED' } });
      expect(await fleet.request('POST', `${path}/reopen`)).toMatchObject({
        status: 200,
        body: { owner, state: 'open' },
      });
      const fresh = await probe();
      expect(await fleet.job(old)).toMatchObject({ state: 'removed' });
      expect(await fleet.job(fresh)).toMatchObject({ state: 'waiting' });
      await cancel({ reason: 'tidy', close: false });
    });

    it('needs no body, even from a client that always sends a JSON content type', async () => {
      const json = { 'content-type': 'application/json' };
      for (const verb of ['cancel', 'reopen'])
        expect(await fleet.request('POST', `${path}/${verb}`, undefined, json)).toMatchObject({
          status: 200,
        });
      const id = await probe();
      expect(await fleet.request('DELETE', `/v1/jobs/${id}`, undefined, json)).toMatchObject({ status: 200 });
    });

    it('of an unknown owner returns an empty receipt', async () => {
      expect(await cancel({ reason: 'never was' })).toMatchObject({ removed: 0, byQueue: {}, done: true });
    });

    it('of a job with several owners removes it from all of them', async () => {
      const id = await probe({}, { owners: [`site:${tests}`, owner], dedup: { strategy: 'skip', key: 'k' } });
      expect(await cancel({ reason: 'over' })).toMatchObject({ removed: 1, done: true });
      const next = await probe({}, { owners: [`site:${tests}`], dedup: { strategy: 'skip', key: 'k' } });
      expect(next).not.toBe(id);
      expect((await fleet.request('GET', addressOf(`site:${tests}`))).body).toMatchObject({
        counts: { jobs: 1 },
      });
      await cancel({ reason: 'tidy' }, addressOf(`site:${tests}`));
    });

    it('of one job works the same way and does not block a later trigger', async () => {
      const dedup = { strategy: 'skip', key: 'k' };
      const id = await probe({}, { dedup });
      const { status, body } = await fleet.request('DELETE', `/v1/jobs/${id}`);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { owner, job: id, removed: 1, closed: false, done: true },
      });
      expect(await fleet.job(id)).toMatchObject({ state: 'removed' });
      const next = await probe({}, { dedup });
      expect(await fleet.job(next)).toMatchObject({ state: 'waiting' });
      expect(await fleet.request('DELETE', '/v1/jobs/nothing')).toMatchObject({ status: 404 });
      await cancel({ reason: 'tidy' });
    });

    it('is listed in the history of its owner, page by page', async () => {
      const ids = await Promise.all(Array.from({ length: 120 }, () => probe()));
      await cancel({ reason: 'over', cancelId });
      const first = (await fleet.request('GET', `${path}/history`)).body as unknown as HistoryView;
      const rest = (await fleet.request('GET', `${path}/history?cursor=${first.cursor}`))
        .body as unknown as HistoryView;
      expect([first.entries.length, rest.entries.length, rest.cursor]).toEqual([100, 20, null]);
      expect([...first.entries, ...rest.entries].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(first.entries[0]).toMatchObject({
        queue: 'probe',
        kind: 'probe',
        state: 'waiting',
        why: 'cancelled',
        reason: 'over',
        by: 'api',
        cancelId,
      });
    });

    it.each([
      ['an unknown field', { reason: 'a', force: true }],
      ['an empty reason', { reason: ' ' }],
      ['a wait of another kind', { reason: 'a', wait: 'done' }],
      ['a time to wait without a wait', { reason: 'a', waitFor: '1s' }],
      ['a wait that is too long', { reason: 'a', wait: 'drained', waitFor: '3m' }],
      ['an invalid time', { reason: 'a', wait: 'drained', waitFor: 'soon' }],
      ['an empty cancelId', { reason: 'a', cancelId: '' }],
      ['a cancelId that is too long', { reason: 'a', cancelId: 'x'.repeat(300) }],
    ])('with %s is refused, and nothing is cancelled', async (_, body) => {
      const id = await probe();
      const answer = await fleet.request('POST', `${path}/cancel`, body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID' } });
      expect(await fleet.job(id)).toMatchObject({ state: 'waiting' });
      await cancel({ reason: 'tidy' });
    });
  });

  describe('with a worker', () => {
    beforeAll(async () => {
      fleet = await Fleet.start({ workers: 2, env: { WORKER_LOCK: '8s' } });
    });
    afterAll(() => fleet.stop());

    it('tells running jobs to stop, which end cancelled and are not retried', async () => {
      const id = await running({ ms: 6_000 });
      const receipt = await cancel({ reason: 'over', wait: 'drained', waitFor: '10s' });
      expect(receipt).toMatchObject({
        removed: 0,
        aborted: 1,
        acknowledged: 1,
        ignored: 0,
        running: 0,
        byQueue: { probe: { removed: {}, aborted: 1, running: 0 } },
        schedules: 0,
        done: true,
      });
      expect(await fleet.job(id)).toMatchObject({ state: 'cancelled', attempts: 1, result: null });
    });

    it('reports a job that ignores its signal as abandoned', async () => {
      const id = await running({ ms: 9_000, ignoreAbort: true });
      const begun = await cancel({ reason: 'over', cancelId });
      expect(begun).toMatchObject({ aborted: 1, acknowledged: 0, ignored: 0, running: 1, done: false });
      await fleet.untilState(id, 'cancelled', 15_000);
      await until(async () => (await ownReceipt()).done, 'the receipt is done');
      expect(await ownReceipt()).toMatchObject({ aborted: 1, ignored: 1, running: 0, done: true });
    });

    it('ends a job that failed and waits for its next attempt', async () => {
      const id = await probe({ failTimes: 2 }, {});
      await until(async () => (await fleet.job(id)).attempts >= 1, 'it failed once');
      const receipt = await cancel({ reason: 'over', wait: 'drained' });
      expect(receipt).toMatchObject({ done: true, running: 0 });
      const { state } = await fleet.job(id);
      expect(['removed', 'cancelled', 'completed']).toContain(state);
    });

    it('frees the slot of its running job', async () => {
      const slot = { slot: { key: owner, limit: 1 } };
      await running({ ms: 6_000 }, slot);
      const next = await probe({}, { owners: [`${owner}-next`], ...slot });
      const waits = await probe({}, slot);
      const receipt = await cancel({ reason: 'over', wait: 'drained' });
      expect(receipt).toMatchObject({ removed: 1, aborted: 1, done: true });
      await fleet.untilState(next, 'completed');
      expect(await fleet.job(waits)).toMatchObject({ state: 'removed' });
    });

    it('of one running job stops only that job', async () => {
      const [one, other] = [await running({ ms: 6_000 }), await running({ ms: 6_000 })];
      const { body } = await fleet.request('DELETE', `/v1/jobs/${one}`);
      expect(body).toMatchObject({ aborted: 1, job: one });
      await fleet.untilState(one, 'cancelled');
      expect(await fleet.job(other)).toMatchObject({ state: 'running' });
      await cancel({ reason: 'tidy', wait: 'drained' });
    });

    async function running(payload: object, more: object = {}): Promise<string> {
      const id = await probe(payload, more);
      await fleet.untilState(id, 'running');
      await until(async () => (await fleet.job(id)).progress !== 0, 'its handler is running');
      return id;
    }
  });

  function probe(payload: object = {}, more: object = {}): Promise<string> {
    return fleet.probe(payload, { owners: [owner], ...more });
  }

  async function cancel(body: object, of = path): Promise<ReceiptView> {
    const answer = await fleet.request('POST', `${of}/cancel`, body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body as unknown as ReceiptView;
  }

  async function ownReceipt(): Promise<ReceiptView> {
    return (await fleet.request('GET', `/v1/cancellations/${cancelId}`)).body as unknown as ReceiptView;
  }
});

function addressOf(owner: string): string {
  return `/v1/owners/${owner.replace(':', '/')}`;
}
