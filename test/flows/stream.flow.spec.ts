import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { serverSentEvents, type ServerSent } from '../support/server-sent.js';
import { until } from '../support/until.js';

/** A console that follows the fleet. */
class Follower {
  readonly seen: ServerSent[] = [];
  private readonly leaving = new AbortController();

  static async connect(fleet: Fleet, topics?: string, last?: string): Promise<Follower> {
    const follower = new Follower();
    const query = topics === undefined ? '' : `?topics=${topics}`;
    const answer = await fetch(`${fleet.url}/v1/stream${query}`, {
      headers: last === undefined ? {} : { 'last-event-id': last },
      signal: follower.leaving.signal,
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    void follower.listen(answer.body!).catch(() => undefined);
    await until(() => follower.seen.some(({ event }) => event === 'begin' || event === 'gap'), 'it begins');
    return follower;
  }

  untilSeen(event: string, text: string): Promise<ServerSent> {
    return until(
      () => this.seen.find((each) => each.event === event && each.data.includes(text)),
      `${event} of ${text} is seen`,
    );
  }

  events(): (string | undefined)[] {
    return this.seen.map(({ event }) => event);
  }

  leave(): void {
    this.leaving.abort();
  }

  private async listen(body: ReadableStream<Uint8Array>): Promise<void> {
    for await (const event of serverSentEvents(body)) this.seen.push(event);
  }
}

describe('the stream of changes', () => {
  let fleet: Fleet;
  const followers: Follower[] = [];
  beforeAll(async () => (fleet = await Fleet.start({ janitor: true })));
  afterEach(() => {
    for (const follower of followers.splice(0)) follower.leave();
  });
  afterAll(() => fleet.stop());

  async function follow(topics?: string, last?: string): Promise<Follower> {
    const follower = await Follower.connect(fleet, topics, last);
    followers.push(follower);
    return follower;
  }

  it('names jobs that end, owners that are cancelled, sweeps, and queues whose counts changed', async () => {
    const follower = await follow();
    const id = await fleet.probe();
    await fleet.request('POST', '/v1/owners/trip/cancelled/cancel', { reason: 'the ride is off' });
    await fleet.request('POST', '/v1/admin/sweeps/orphans', {});

    const ended = await follower.untilSeen('job.completed', id);
    expect(JSON.parse(ended.data)).toMatchObject({
      specversion: '1.0',
      type: 'job.completed',
      subject: id,
      data: { queue: 'probe', owner: 'trip:42' },
    });
    expect(ended.id).toMatch(/^\d+-\d+$/);
    await follower.untilSeen('owner.cancelled', 'the ride is off');
    await follower.untilSeen('sweep.done', 'orphans');
    const queues = await follower.untilSeen('queues', '"queue":"probe"');
    expect(queues.id).toBeUndefined();
  });

  it('names only what belongs to the requested topics', async () => {
    const follower = await follow('owners');
    await fleet.untilState(await fleet.probe(), 'completed');
    await fleet.request('POST', '/v1/owners/trip/other/cancel', { reason: 'after the job' });
    await follower.untilSeen('owner.cancelled', 'after the job');
    expect(follower.events()).toEqual([undefined, 'begin', 'owner.cancelled']);
  });

  it('goes on after the last event that a client has seen', async () => {
    const before = await follow('jobs');
    const first = await fleet.probe();
    const { id: last } = await before.untilSeen('job.completed', first);
    before.leave();

    const missed = [await fleet.probe(), await fleet.probe()];
    for (const id of missed) await fleet.untilState(id, 'completed');
    const again = await follow('jobs', last);
    for (const id of missed) await again.untilSeen('job.completed', id);
    expect(again.seen[1]).toMatchObject({ event: 'begin', id: last });
    expect(again.seen.filter(({ data }) => data.includes(first))).toEqual([]);
  });

  it('says that there is a gap when what a client has missed is no longer kept', async () => {
    const before = await follow('jobs');
    const { id: last } = await before.untilSeen('job.completed', await fleet.probe());
    before.leave();
    await fleet.untilState(await fleet.probe(), 'completed');
    const redis = new Redis(fleet.storeUrl);
    await until(
      async () => (await redis.xlen(`${fleet.prefix}:events:out`)) > 1,
      'there is an event after it',
    );
    await redis.xtrim(`${fleet.prefix}:events:out`, 'MAXLEN', 1);
    await redis.quit();

    for (const id of [last, 'no id']) {
      const again = await follow('jobs', id);
      expect(again.events()).toEqual([undefined, 'gap']);
      again.leave();
    }
  });

  it('counts jobs when too many end at once to name each', async () => {
    const follower = await follow('jobs');
    const jobs = Array.from({ length: 1_000 }, () => ({ kind: 'probe', owners: ['trip:many'], payload: {} }));
    await fleet.request('POST', '/v1/jobs/batch', { jobs });
    await until(() => endedIn(follower) === jobs.length, 'each is counted or named once');
    expect(follower.events()).toContain('jobs');
  });

  it('refuses a topic that does not exist', async () => {
    const { status, body } = await fleet.request('GET', '/v1/stream?topics=jobs,weather');
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    expect(body['detail']).toMatch(/queues.*jobs.*owners.*sweeps/);
  });

  it('ends at the shutdown of its process', async () => {
    const api = fleet.addApi();
    await fleet.untilReady(api);
    const answer = await fetch(`${api.url}/v1/stream`);
    api.kill('SIGTERM');
    expect(await api.exited).toMatchObject({ code: 0 });
    expect(await answer.text()).toContain('event: begin');
  });
});

function endedIn({ seen }: Follower): number {
  const counted = seen.map(({ event, data }) => {
    if (event === 'job.completed') return 1;
    return event === 'jobs'
      ? (JSON.parse(data) as { counts: Record<string, number> }).counts['job.completed']!
      : 0;
  });
  return counted.reduce((sum, count) => sum + count, 0);
}
