import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { Phone, type Shown } from '../support/phone.js';
import { seededRandom } from '../support/random.js';
import { Stalls } from '../support/stalls.js';
import { until } from '../support/until.js';

const TRIPS = 500;
const DRIVERS = 200;
/** Customers, who each ask for the next trip when theirs ends. */
const RIDERS = 25;
/**
 * A phone must not show an offer later than this after its trip ended. All phones live in this process, so
 * time during which the process was stalled is subtracted.
 */
const SOON_MS = 1_000;
/** Limit for recording the expiry of a trip that no phone showed: the janitor does that. */
const EXPIRED_BY_MS = 2 * SOON_MS;
/** A few ended jobs are retained; no other job may remain. */
const ENDED = new Set(['completed', 'failed']);

type Lives = ReadonlyMap<string, Life>;

interface Life {
  readonly id: string;
  readonly status: string;
  readonly driverId?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly acceptedAt?: string;
  readonly endedAt?: string;
}

/** Many concurrent trips: random answers, cancels, timeouts, drivers that come and go, and killed workers. */
describe('five hundred trips by two hundred drivers', () => {
  let fleet: Fleet;
  let random: () => number;
  let phones: Phone[];
  let stalls: Stalls;
  let isOver: boolean;
  let isAnswering: boolean;
  let asked = 0;
  /** Drivers who were told that they accepted a trip. */
  let accepted: Map<string, Set<string>>;
  let underWay: Set<Promise<unknown>>;
  beforeEach(async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
    console.log(`SEED=${seed}`);
    random = seededRandom(seed);
    [phones, isOver, isAnswering, accepted, underWay] = [[], false, true, new Map(), new Set()];
    stalls = new Stalls();
    fleet = await Fleet.start({
      workers: 2,
      janitor: true,
      // The slot of a job whose worker is killed right after it ended is freed by the repair sweep.
      env: { WORKER_LOCK: '3s', TRIPS: 'on', LOG_LEVEL: 'info', REPAIR_EVERY: '1s' },
    });
  });
  afterEach(async () => {
    stalls.stop();
    for (const phone of phones) phone.close();
    await fleet.stop();
  });

  it('end with no driver on two trips and no job left', async () => {
    await drive();
    const killings = killWorkers();
    const comings = comeAndGo();
    const lives = (await Promise.all(Array.from({ length: RIDERS }, () => ride()))).flat();
    isOver = true;
    await Promise.all([killings, comings, ...underWay]);

    const final = await Promise.all(lives.map(read));
    console.log(tally(final.map(({ status }) => status)), `${accepted.size} accepted`);
    expect(final).toHaveLength(TRIPS);
    expect(final.filter(({ status }) => status === 'PENDING' || status === 'ACCEPTED')).toEqual([]);
    expect(final.flatMap(acceptedWrongly)).toEqual([]);
    const byId = new Map(final.map((life) => [life.id, life]));
    expect(phones.flatMap(secondOffers)).toEqual([]);
    expect(phones.flatMap((phone) => wrongOffers(phone, byId))).toEqual([]);
    expect(phones.flatMap((phone) => shownStill(phone, byId))).toEqual([]);
    expect(final.flatMap(expiredLate)).toEqual([]);
    expect(phones.filter(({ seen }) => seen.length > 0).length).toBeGreaterThan(DRIVERS / 2);

    await everybodyIsReached();
    await eachOf(phones, ({ driverId }) => available(driverId, false));
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix, 30_000);
    await until(
      async () => {
        expect(await jobsLeft()).toEqual([]);
        return true;
      },
      'no job is left in any queue',
      10_000,
    );
  }, 180_000);

  /** Read from the queues themselves, not from the owner records. */
  async function jobsLeft(): Promise<string[]> {
    const { body } = await fleet.request('GET', '/v1/admin/queues');
    const queues = body['queues'] as { queue: string; counts: Record<string, number> }[];
    const trips = queues.filter(({ queue }) => queue.startsWith('trip-'));
    expect(trips).toHaveLength(2);
    return trips.flatMap(({ queue, counts }) =>
      Object.entries(counts)
        .filter(([state, count]) => !ENDED.has(state) && count > 0)
        .map(([state, count]) => `${count} ${state} in ${queue}`),
    );
  }

  async function drive(): Promise<void> {
    await eachOf(Array.from({ length: DRIVERS }), async (_, i) => {
      const driverId = `d${i}`;
      await available(driverId, true);
      phones.push(await Phone.connect(fleet.url, driverId, {}, (shown) => answer(driverId, shown)));
    });
  }

  /** The slots of a dead worker must not keep a driver from the next trip, and must be free afterwards. */
  async function everybodyIsReached(): Promise<void> {
    isAnswering = false;
    for (let i = 0; i < DRIVERS; i += 50) {
      const some = phones.slice(i, i + 50);
      const driverIds = some.map(({ driverId }) => driverId);
      const { body } = await post('/v1/trips', { customerId: 'rider', driverIds });
      await Promise.all(some.map((phone) => phone.untilSeen('offer', String(body['id']))));
      await post(`/v1/trips/${String(body['id'])}/cancel`, {});
    }
  }

  /** One customer: asks for a trip, perhaps cancels it, waits for its end, and asks for the next. */
  async function ride(): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < TRIPS / RIDERS) {
      const driverIds = [...new Set(Array.from({ length: 2 + pick(3) }, () => `d${pick(DRIVERS)}`))];
      const expiresIn = `${800 + pick(2_500)}ms`;
      const { status, body } = await ask({ customerId: 'rider', driverIds, expiresIn });
      expect({ body, isTaken: status < 300 }).toMatchObject({ isTaken: true });
      const id = String(body['id']);
      ids.push(id);
      if (random() < 0.2) {
        await pause(pick(1_500));
        await post(`/v1/trips/${id}/cancel`, { reason: 'off' });
      }
      while (isOpen(await read(id))) await pause(400);
    }
    return ids;
  }

  /** Retries while the store is overloaded; the same key gives the same trip. */
  function ask(order: object): Promise<Answer> {
    const key = { 'idempotency-key': `ride-${(asked += 1)}` };
    return until(async () => {
      const said = await fleet.request('POST', '/v1/trips', order, key);
      return said.status !== 503 && said;
    }, 'the trip is taken');
  }

  function answer(driverId: string, { event, data: { tripId } }: Shown): void {
    if (event !== 'offer' || !isAnswering) return;
    const answering = (async () => {
      const mood = random();
      await pause(pick(400));
      if (mood < 0.15) return void (await post(`/v1/trips/${tripId}/decline`, { driverId }));
      if (mood > 0.65) return undefined;
      // Accepts twice, like a phone that got no response.
      const [one, two] = await Promise.all([accept(tripId, driverId), accept(tripId, driverId)]);
      if (one.status !== 200 && two.status !== 200) return undefined;
      await pause(pick(600));
      const how = random() < 0.2 ? 'cancel' : 'complete';
      return void (await post(`/v1/trips/${tripId}/${how}`, how === 'cancel' ? {} : undefined));
    })();
    underWay.add(answering);
    void answering.finally(() => underWay.delete(answering));
  }

  async function accept(tripId: string, driverId: string): Promise<Answer> {
    const answered = await post(`/v1/trips/${tripId}/accept`, { driverId });
    if (answered.status === 200) accepted.set(tripId, (accepted.get(tripId) ?? new Set()).add(driverId));
    return answered;
  }

  async function comeAndGo(): Promise<void> {
    while (!isOver) {
      const driverId = `d${pick(DRIVERS)}`;
      await available(driverId, false);
      await pause(pick(300));
      await available(driverId, true);
    }
  }

  async function killWorkers(): Promise<void> {
    for (let i = 0; i < 2; i += 1) {
      for (let waited = 0; waited < 8_000 && !isOver; waited += 100) await pause(100);
      fleet.workers[i]!.kill('SIGKILL');
      await fleet.untilReady(fleet.addWorker());
    }
  }

  function acceptedWrongly({ id, driverId }: Life): string[] {
    const by = [...(accepted.get(id) ?? [])];
    const isRight = by.length === 0 || (by.length === 1 && by[0] === driverId);
    return isRight ? [] : [`${id} was accepted by ${by.join(' and ')}, and is ${driverId}'s`];
  }

  /** Offers made while an earlier one was open. */
  function secondOffers({ driverId, seen }: Phone): string[] {
    const found: string[] = [];
    let standing: string | undefined;
    for (const { event, data } of seen) {
      const isHis = standing !== undefined && accepted.get(standing)?.has(driverId) === true;
      if (event === 'withdrawn') standing = standing === data.tripId ? undefined : standing;
      else {
        if (standing !== undefined && !isHis)
          found.push(`${driverId} had ${standing} and got ${data.tripId}`);
        standing = data.tripId;
      }
    }
    return found;
  }

  /**
   * By the store's clock, an offer is never made after its trip ended, nor shown later than SOON_MS after.
   */
  function wrongOffers({ driverId, seen }: Phone, byId: Lives): string[] {
    const his = [...byId.values()].filter((life) => life.driverId === driverId);
    return seen.flatMap(({ id, event, data, at }) => {
      if (event !== 'offer') return [];
      const [over, offeredAt] = [overAt(byId.get(data.tripId)!), Number(id.split('-')[0])];
      const isLate = offeredAt > over || tookMs(over, at) > SOON_MS;
      const others = his.filter((life) => covers(life, offeredAt));
      return [
        ...(isLate
          ? [`${driverId} was offered ${data.tripId} at ${offeredAt}, saw it at ${at}; over at ${over}`]
          : []),
        ...others.map((other) => `${driverId} was offered ${data.tripId} while on ${other.id}`),
      ];
    });
  }

  /** Offers that a phone still shows at the end, or showed for longer than SOON_MS after their trip ended. */
  function shownStill({ driverId, seen }: Phone, byId: Lives): string[] {
    return seen.flatMap(({ event, data: { tripId } }, i) => {
      if (event !== 'offer' || accepted.get(tripId)?.has(driverId)) return [];
      const gone = seen.slice(i).find((later) => later.event === 'withdrawn' && later.data.tripId === tripId);
      if (!gone) return [`${tripId} is still shown to ${driverId}`];
      const lateByMs = tookMs(overAt(byId.get(tripId)!), gone.at);
      return lateByMs > SOON_MS ? [`${tripId} was shown for ${lateByMs} ms after it was over`] : [];
    });
  }

  function expiredLate({ id, status, expiresAt, endedAt }: Life): string[] {
    if (status !== 'EXPIRED') return [];
    const lateByMs = tookMs(Date.parse(expiresAt), Date.parse(endedAt!));
    return lateByMs > EXPIRED_BY_MS ? [`${id} expired ${lateByMs} ms late`] : [];
  }

  /** Time on this machine's clock, without the time during which this process was stalled. */
  function tookMs(from: number, to: number): number {
    return to - from - stalls.within(from, to);
  }

  async function read(id: string): Promise<Life> {
    return (await fleet.request('GET', `/v1/trips/${id}`)).body as unknown as Life;
  }

  function post(path: string, body?: object): Promise<Answer> {
    return fleet.request('POST', path, body);
  }

  async function available(driverId: string, is: boolean): Promise<void> {
    await fleet.request('PUT', `/v1/drivers/${driverId}`, { available: is });
  }

  function pick(below: number): number {
    return Math.floor(random() * below);
  }
});

function isOpen({ status }: Life): boolean {
  return status === 'PENDING' || status === 'ACCEPTED';
}

/** When the trip could no longer be accepted: at its expiry, even if it was recorded later. */
function overAt({ status, acceptedAt, expiresAt, endedAt }: Life): number {
  return Date.parse(status === 'EXPIRED' ? expiresAt : (acceptedAt ?? endedAt!));
}

function covers({ acceptedAt, endedAt }: Life, at: number): boolean {
  return acceptedAt !== undefined && at > Date.parse(acceptedAt) && at < Date.parse(endedAt!);
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** Runs a few calls at a time. */
async function eachOf<T>(all: readonly T[], work: (one: T, i: number) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += 20)
    await Promise.all(all.slice(i, i + 20).map((one, j) => work(one, i + j)));
}
