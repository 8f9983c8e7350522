import type { HistoryView } from '#http';
import type { ReceiptView } from '#nestjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { until } from '../support/until.js';

const OWNER = '/v1/owners/trip/42';

describe('a cancellation', () => {
  let fleet: Fleet;
  afterEach(async () => {
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    await fleet.stop();
  });

  describe('without a worker', () => {
    beforeEach(async () => {
      fleet = await Fleet.start({ workers: 0 });
    });

    it('removes what waits and what is delayed, in its queue and its index, and says so', async () => {
      const waiting = await fleet.probe();
      await fleet.probe({}, { delay: '1h' });
      const other = await fleet.probe({}, { owners: ['trip:43'] });
      const receipt = await cancel({ reason: 'called off', cancelId: 'c-1' });
      expect(receipt).toEqual({
        cancelId: 'c-1',
        owner: 'trip:42',
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
        owners: ['trip:42'],
        error: 'cancelled by api: called off (it was waiting)',
        why: 'cancelled by api: called off (it was waiting)',
        timeline: [{ event: 'removed', why: 'cancelled by api: called off (it was waiting)' }],
      });
      expect(await fleet.job(other)).toMatchObject({ state: 'waiting' });
      expect((await fleet.request('GET', OWNER)).body).toMatchObject({ state: 'closed', jobs: [] });
      await cancel({ reason: 'tidy' }, '/v1/owners/trip/43');
    });

    it('is said again in the same words to the same cancelId, and ends nothing more', async () => {
      await fleet.probe();
      const first = await cancel({ reason: 'a', cancelId: 'c-1', close: false });
      const later = await fleet.probe();
      expect(await cancel({ reason: 'a', cancelId: 'c-1', close: false })).toEqual(first);
      expect((await fleet.request('GET', '/v1/cancellations/c-1')).body).toEqual(first);
      expect(await fleet.job(later)).toMatchObject({ state: 'waiting' });
      const other = await fleet.request('POST', '/v1/owners/trip/44/cancel', {
        reason: 'a',
        cancelId: 'c-1',
      });
      expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_CONFLICT' } });
      await cancel({ reason: 'tidy' });
    });

    it('closes the owner until it is reopened; those from before stay dead', async () => {
      const old = await fleet.probe();
      await cancel({ reason: 'over' });
      const refused = await fleet.request('POST', '/v1/jobs', {
        kind: 'probe',
        owners: ['trip:42'],
        payload: {},
      });
      expect(refused).toMatchObject({ status: 409, body: { code: 'OWNER_CLOSED' } });
      expect(await fleet.request('POST', `${OWNER}/reopen`)).toMatchObject({
        status: 200,
        body: { owner: 'trip:42', state: 'open' },
      });
      const fresh = await fleet.probe();
      expect(await fleet.job(old)).toMatchObject({ state: 'removed' });
      expect(await fleet.job(fresh)).toMatchObject({ state: 'waiting' });
      await cancel({ reason: 'tidy', close: false });
    });

    it('needs no body, also from a client that always names JSON', async () => {
      const json = { 'content-type': 'application/json' };
      for (const path of [`${OWNER}/cancel`, `${OWNER}/reopen`])
        expect(await fleet.request('POST', path, undefined, json)).toMatchObject({ status: 200 });
      const id = await fleet.probe();
      expect(await fleet.request('DELETE', `/v1/jobs/${id}`, undefined, json)).toMatchObject({ status: 200 });
    });

    it('of an owner nobody knows is a receipt of nothing', async () => {
      expect(await cancel({ reason: 'never was' })).toMatchObject({ removed: 0, byQueue: {}, done: true });
    });

    it('of a job with several owners takes it from all of them', async () => {
      const id = await fleet.probe(
        {},
        { owners: ['site:1', 'trip:42'], dedup: { strategy: 'skip', key: 'k' } },
      );
      expect(await cancel({ reason: 'over' })).toMatchObject({ removed: 1, done: true });
      const next = await fleet.probe({}, { owners: ['site:1'], dedup: { strategy: 'skip', key: 'k' } });
      expect(next).not.toBe(id);
      expect((await fleet.request('GET', '/v1/owners/site/1')).body).toMatchObject({ counts: { jobs: 1 } });
      await cancel({ reason: 'tidy' }, '/v1/owners/site/1');
    });

    it('of one job goes the same road, and swallows no trigger', async () => {
      const dedup = { strategy: 'skip', key: 'k' };
      const id = await fleet.probe({}, { dedup });
      const { status, body } = await fleet.request('DELETE', `/v1/jobs/${id}`);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { owner: 'trip:42', job: id, removed: 1, closed: false, done: true },
      });
      expect(await fleet.job(id)).toMatchObject({ state: 'removed' });
      const next = await fleet.probe({}, { dedup });
      expect(await fleet.job(next)).toMatchObject({ state: 'waiting' });
      expect(await fleet.request('DELETE', '/v1/jobs/nothing')).toMatchObject({ status: 404 });
      await cancel({ reason: 'tidy' });
    });

    it('is remembered in the history of its owner, page by page', async () => {
      const ids = [];
      for (let i = 0; i < 120; i += 1) ids.push(await fleet.probe());
      await cancel({ reason: 'over', cancelId: 'c-9' });
      const first = (await fleet.request('GET', `${OWNER}/history`)).body as unknown as HistoryView;
      const rest = (await fleet.request('GET', `${OWNER}/history?cursor=${first.cursor}`))
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
        cancelId: 'c-9',
      });
    });

    it.each([
      ['an unknown field', { reason: 'a', force: true }],
      ['an empty reason', { reason: ' ' }],
      ['a wait of another kind', { reason: 'a', wait: 'done' }],
      ['a time to wait, and nothing to wait for', { reason: 'a', waitFor: '1s' }],
      ['a wait that is too long', { reason: 'a', wait: 'drained', waitFor: '3m' }],
      ['a time that is none', { reason: 'a', wait: 'drained', waitFor: 'soon' }],
      ['an empty cancelId', { reason: 'a', cancelId: '' }],
      ['a cancelId without end', { reason: 'a', cancelId: 'x'.repeat(300) }],
    ])('with %s is refused, and nothing is cancelled', async (_, body) => {
      const id = await fleet.probe();
      const answer = await fleet.request('POST', `${OWNER}/cancel`, body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID' } });
      expect(await fleet.job(id)).toMatchObject({ state: 'waiting' });
      await cancel({ reason: 'tidy' });
    });
  });

  describe('with a worker', () => {
    beforeEach(async () => {
      fleet = await Fleet.start({ workers: 2, env: { WORKER_LOCK: '8s' } });
    });

    it('tells what runs, which ends cancelled and is not tried again', async () => {
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

    it('tells one that does not listen, and says that it was abandoned', async () => {
      const id = await running({ ms: 9_000, ignoreAbort: true });
      const begun = await cancel({ reason: 'over', cancelId: 'c-1' });
      expect(begun).toMatchObject({ aborted: 1, acknowledged: 0, ignored: 0, running: 1, done: false });
      await fleet.untilState(id, 'cancelled', 15_000);
      await until(async () => (await receiptOf('c-1')).done, 'the receipt is done');
      expect(await receiptOf('c-1')).toMatchObject({ aborted: 1, ignored: 1, running: 0, done: true });
    });

    it('ends a job that failed and waits for its next attempt', async () => {
      const id = await fleet.probe({ failTimes: 2 }, {});
      await until(async () => (await fleet.job(id)).attempts >= 1, 'it failed once');
      const receipt = await cancel({ reason: 'over', wait: 'drained' });
      expect(receipt).toMatchObject({ done: true, running: 0 });
      const { state } = await fleet.job(id);
      expect(['removed', 'cancelled', 'completed']).toContain(state);
    });

    it('frees the slot that its running job held', async () => {
      const slot = { slot: { key: 'driver:7', limit: 1 } };
      await running({ ms: 6_000 }, slot);
      const next = await fleet.probe({}, { owners: ['trip:next'], ...slot });
      const waits = await fleet.probe({}, slot);
      const receipt = await cancel({ reason: 'over', wait: 'drained' });
      expect(receipt).toMatchObject({ removed: 1, aborted: 1, done: true });
      await fleet.untilState(next, 'completed');
      expect(await fleet.job(waits)).toMatchObject({ state: 'removed' });
    });

    it('of one running job stops that one alone', async () => {
      const [one, other] = [await running({ ms: 6_000 }), await running({ ms: 6_000 })];
      const { body } = await fleet.request('DELETE', `/v1/jobs/${one}`);
      expect(body).toMatchObject({ aborted: 1, job: one });
      await fleet.untilState(one, 'cancelled');
      expect(await fleet.job(other)).toMatchObject({ state: 'running' });
      await cancel({ reason: 'tidy', wait: 'drained' });
    });

    async function running(payload: object, more: object = {}): Promise<string> {
      const id = await fleet.probe(payload, more);
      await fleet.untilState(id, 'running');
      await until(async () => (await fleet.job(id)).progress !== 0, 'its handler is at it');
      return id;
    }
  });

  async function cancel(body: object, of = OWNER): Promise<ReceiptView> {
    const answer = await fleet.request('POST', `${of}/cancel`, body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body as unknown as ReceiptView;
  }

  async function receiptOf(cancelId: string): Promise<ReceiptView> {
    return (await fleet.request('GET', `/v1/cancellations/${cancelId}`)).body as unknown as ReceiptView;
  }
});
