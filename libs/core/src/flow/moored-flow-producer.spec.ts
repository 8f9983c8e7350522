import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

describe('MooredFlowProducer', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const node = (name: string, owners?: string[], children?: unknown[], opts = {}) =>
    ({
      name,
      queueName: 'audio',
      data: {},
      opts: { ...(owners && { owners }), ...opts },
      ...(children && { children }),
    }) as never;

  it('runs children before their parents, each under the owners it names or inherits', async () => {
    const ran: [string, unknown][] = [];
    kit.worker(async (job) => ran.push([job.name, job.opts.owners]));

    await kit.flows().add(node('top', ['album:1'], [node('a'), node('b', ['track:2'], [node('c')])]));

    await until(() => ran.length === 4, 'all ran');
    expect(ran.at(-1)).toEqual(['top', ['album:1']]);
    expect(new Map(ran)).toEqual(
      new Map([
        ['a', ['album:1']],
        ['b', ['track:2']],
        ['c', ['track:2']],
        ['top', ['album:1']],
      ]),
    );
    await kit.nothingLeft();
  });

  it('adds all of a flow or nothing', async () => {
    await kit.owners.cancel('track:2');

    const added = kit.flows().add(node('top', ['album:1'], [node('a'), node('b', ['track:2'])]));

    await expect(added).rejects.toMatchObject({ code: 'OWNER_CLOSED', owner: 'track:2' });
    expect(await kit.queue().getJobCountByTypes('prioritized', 'wait', 'waiting-children')).toBe(0);
    expect(await kit.owners.get('album:1')).toBeUndefined();
  });

  it('refuses a flow of a single job whose owner is closed', async () => {
    await kit.owners.cancel('album:1');

    await expect(kit.flows().add(node('alone', ['album:1']))).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
  });

  it("refuses flows together if BullMQ refuses one of their jobs, with BullMQ's message", async () => {
    const queue = `${kit.prefix}:audio`;
    await kit.flows().add(node('top', ['album:1'], [node('a', undefined, undefined, { jobId: 'a' })]));
    const valid = node('valid', ['album:2']);
    const orphan = node('orphan', ['album:2'], undefined, { parent: { id: 'missing', queue } });
    const taken = node('other', ['album:2'], [node('a', undefined, undefined, { jobId: 'a' })], {
      jobId: 'o',
    });

    await expect(kit.flows().addBulk([valid, orphan])).rejects.toMatchObject({
      code: -5,
      message: `Missing key for parent job ${queue}:missing. addJob`,
    });
    await expect(kit.flows().addBulk([valid, taken])).rejects.toMatchObject({
      code: -7,
      message: `The parent job ${queue}:o cannot be replaced. addJob`,
    });

    expect(await kit.owners.get('album:2')).toBeUndefined();
    expect(await kit.queue().getJobCountByTypes('prioritized', 'wait', 'waiting-children')).toBe(2);
  });

  it('refuses owners for a job with another prefix, and adds nothing', async () => {
    const child = (owners?: string[]) => ({
      ...(node('child', owners) as object),
      prefix: `${kit.prefix}:elsewhere`,
    });
    const refusal = { code: 'INVALID' };

    await expect(kit.flows().add(node('top', ['album:1'], [child()]))).rejects.toMatchObject(refusal);
    await expect(kit.flows().addBulk([node('top', undefined, [child(['album:1'])])])).rejects.toMatchObject(
      refusal,
    );

    expect(await kit.redis.keys(`${kit.prefix}:elsewhere:*`)).toEqual([]);
    expect(await kit.ownerKeys()).toEqual([]);
    expect(await kit.queue().getJobCountByTypes('wait', 'waiting-children')).toBe(0);
  });

  it('treats an ended child as done and does not list it as a job of an owner', async () => {
    const ran: string[] = [];
    kit.worker(async (job) => ran.push(job.name));
    const child = await kit.queue().add('child', {}, { owners: ['track:1'], jobId: 'c' });
    await until(async () => (await child.getState()) === 'completed', 'the child completed');

    await kit.flows().add(node('top', ['album:1'], [node('child', undefined, undefined, { jobId: 'c' })]));

    await until(() => ran.length === 2, 'the parent ran');
    expect(ran).toEqual(['child', 'top']);
    await kit.nothingLeft();
  });

  it("deduplicates jobs without owners by BullMQ's option, together with flows of owners", async () => {
    const plain = () => node('plain', undefined, undefined, { deduplication: { id: 'd' } });
    const [first] = await kit.flows().addBulk([plain(), node('owned', ['album:1'])]);

    const [second] = await kit.flows().addBulk([plain(), node('owned', ['album:1'])]);

    expect(second!.job.id).toBe(first!.job.id);
    expect(await kit.queue().getJobCounts('wait', 'prioritized')).toEqual({ wait: 1, prioritized: 2 });
  });

  it('refuses dedup, because a flow is added whole and none of its jobs joins a pending one', async () => {
    const opts = { dedup: { strategy: 'skip', key: 'k' } } as const;
    const pending = await kit.queue().add('x', {}, { owners: ['album:1'], ...opts });
    const children = [node('a', undefined, undefined, opts), node('b', undefined, undefined, opts)];

    await expect(kit.flows().add(node('top', ['album:1'], children))).rejects.toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining('dedup'),
    });

    const waiting = await kit.queue().getJobs(['prioritized', 'waiting-children']);
    expect(waiting.map(({ id }) => id)).toEqual([pending.id]);
  });

  it('counts all jobs of a flow against the limits', async () => {
    const flow = node('top', ['album:1'], [node('a'), node('b'), node('c')]);
    const limited = kit.flows({ limits: { perOwner: 3 } });

    await expect(limited.add(flow)).rejects.toMatchObject({ code: 'OWNER_FULL' });
    expect(await kit.ownerKeys()).toEqual([]);
    await kit.flows({ limits: { perOwner: 4 } }).add(flow);
    expect((await kit.owners.get('album:1'))?.count).toBe(4);
  });

  it('removes a whole flow with its owner', async () => {
    await kit.flows().add(node('top', ['album:1'], [node('a'), node('b', undefined, [node('c')])]));

    const receipt = await kit.owners.cancel('album:1');

    expect(receipt).toMatchObject({ removed: 4, done: true });
    expect(await kit.queue().getJobCountByTypes('prioritized', 'wait', 'waiting-children')).toBe(0);
    expect(await kit.redis.keys(`${kit.prefix}:audio:*:dependencies`)).toEqual([]);
  });

  it.each([
    ['fails with it', { failParentOnFailure: true }, 'failed', ['b']],
    ['runs once all have ended', { ignoreDependencyOnFailure: true }, 'completed', ['b', 'top']],
    ['runs', { continueParentOnFailure: true }, 'completed', ['b', 'top']],
  ])(
    'reports a cancelled child as failed to the parent of another owner, so that the parent %s',
    async (_, opts, state, names) => {
      const { job } = await kit
        .flows()
        .add(node('top', ['album:1'], [node('a', ['track:2'], undefined, opts), node('b')]));

      const receipt = await kit.owners.cancel('track:2', { close: false });
      const ran: string[] = [];
      kit.worker(async (run) => ran.push(run.name));

      expect(receipt).toMatchObject({ removed: 1, done: true });
      await until(async () => (await job.getState()) === state, `the parent is ${state}`);
      await until(() => ran.length === names.length, 'all ran');
      expect(ran.toSorted()).toEqual(names);
      await kit.nothingLeft();
    },
  );

  it('keeps children of other owners when their parent is removed', async () => {
    await kit.flows().add(node('top', ['album:1'], [node('a', ['track:2'])]));

    await kit.owners.cancel('album:1', { close: false });
    const ran: string[] = [];
    kit.worker(async (run) => ran.push(run.name));

    await until(() => ran.length === 1, 'the child ran');
    expect(ran).toEqual(['a']);
    await kit.nothingLeft();
  });

  it('removes the descendants of a cancelled job that belong to the same owner', async () => {
    const { job } = await kit.flows().add(node('top', ['album:1'], [node('a'), node('b', ['track:2'])]));

    const receipt = await kit.owners.cancelJob('audio', job.id!);

    expect(receipt).toMatchObject({ removed: 2, done: true });
    expect(await kit.owners.get('album:1')).toBeUndefined();
    expect((await kit.owners.get('track:2'))?.count).toBe(1);
  });

  it('adds thousands of flows with an owner each in one step', async () => {
    const flows = Array.from({ length: 4_100 }, (_, i) => node('alone', [`album:${i}`]));

    await kit.flows().addBulk(flows);

    expect(await kit.queue().getPrioritizedCount()).toBe(flows.length);
    const { owners } = await kit.owners.list({ limit: flows.length + 1 });
    expect(owners).toHaveLength(flows.length);
  });

  it('removes a flow of thousands with its first job, page by page', async () => {
    const children = Array.from({ length: 8_100 }, () => node('child'));
    const { job } = await kit.flows().add(node('top', ['album:1'], children));

    const receipt = await kit.owners.cancelJob('audio', job.id!, { wait: 'drained' });

    expect(receipt).toMatchObject({ removed: children.length + 1, aborted: 0, done: true });
    expect(await kit.queue().getJobCountByTypes('prioritized', 'wait', 'waiting-children')).toBe(0);
    await kit.nothingLeft();
  });
});
