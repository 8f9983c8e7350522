import fc from 'fast-check';
import type { Job, JobsOptions } from 'bullmq';
import { sendCancelOnly } from '../support/core-cancel.js';
import { seededRandom } from '../support/random.js';
import { until } from '../support/until.js';
import { isUnfinished } from '../support/core-state.js';
import { hold, violationOf } from './violation.js';
import { MOST_JOBS_OF_AN_OWNER, OWNERS, QUEUES, SLOTS, type CoreWorld } from './core-world.js';

const [ANN, BEN, CAL, DEE] = OWNERS;
/** Few, so that jobs share owners. */
const SETS_OF_OWNERS = [[ANN], [ANN], [BEN], [ANN, BEN], [ANN, CAL, BEN], [CAL, DEE, ANN, BEN]];
const HOUR_MS = 3_600_000;
/** More begins than a correct life has: its jobs would begin again and again. */
const MOST_BEGINS = 10_000;
const STRATEGIES = ['skip', 'replace', 'coalesce'] as const;
const CLEANED = ['completed', 'failed', 'wait', 'prioritized', 'delayed', 'active'] as const;

type Random = () => number;
type OwnedJob = Omit<JobsOptions, 'owners'> & { owners: string[] };
type Act = (world: CoreWorld, random: Random) => Promise<void>;

function one<T>(from: readonly T[], random: Random): T | undefined {
  return from[Math.floor(random() * from.length)];
}

/** A random request. */
function anyRequest(random: Random): { queue: string; opts: OwnedJob } {
  const owners = [...one(SETS_OF_OWNERS, random)!];
  const slot = one(['', '', 'gpu', 'disk', 'mail'], random)!;
  const key = one(['', '', 'k', 'l'], random)!;
  const queue = one(QUEUES, random)!;
  const jobId = one(['', '', '', `${queue}-a`, `${queue}-b`], random)!;
  return {
    queue,
    opts: {
      owners,
      attempts: random() < 0.5 ? 2 : 1,
      ...(random() < 0.5 && { backoff: HOUR_MS }),
      ...(random() < 0.2 && { delay: HOUR_MS }),
      ...(random() < 0.1 && { lifo: true }),
      ...(random() < 0.1 && { expiresIn: 2 }),
      ...(jobId && { jobId }),
      ...(random() < 0.4 && { fair: one([true, { by: 'user', weight: 2 }], random)! }),
      ...(slot && { slot: { key: slot, ...SLOTS[slot]! } }),
      ...(key && { dedup: { strategy: one(STRATEGIES, random)!, key } }),
    },
  };
}

/** The expected answer to a trigger, from what its callers know. */
async function expectation(world: CoreWorld, queue: string, opts: OwnedJob) {
  const twin = world.pendingOf(dedupOf(queue, opts));
  const exists = opts.jobId !== undefined && world.state.jobs.has(`${queue}:${opts.jobId}`);
  if (opts.owners.some((owner) => world.closed.has(owner))) return { outcome: 'OWNER_CLOSED' };
  if (exists) return { outcome: 'existing' };
  const jobsOf = (owner: string): number => world.state.owners.get(owner)?.jobs.size ?? 0;
  const isFull = opts.owners.some((owner) => jobsOf(owner) >= MOST_JOBS_OF_AN_OWNER);
  if (!twin) return { outcome: isFull ? 'OWNER_FULL' : 'created' };
  const outcome = { skip: 'skipped', replace: 'replaced', coalesce: 'coalesced' }[opts.dedup!.strategy];
  return { outcome, twin };
}

/** The first owner, and the others in any order; the same key means the same job in each queue. */
function dedupOf(_queue: string, { owners: [first, ...others], dedup }: OwnedJob) {
  return dedup && [first, ...others.toSorted(), dedup.key].join(' ');
}

async function add(world: CoreWorld, random: Random): Promise<void> {
  const { queue, opts } = anyRequest(random);
  const expected = await expectation(world, queue, opts);
  let answer: { outcome: string; id?: string };
  try {
    answer = await world.queue(queue).enqueue('x', {}, opts);
  } catch (error) {
    answer = { outcome: String((error as { code?: unknown }).code ?? error) };
  }
  const { outcome, id } = answer;
  world.story.push(`add ${queue} ${JSON.stringify(opts)}: ${outcome} ${id ?? ''}`);
  hold('answers', outcome === expected.outcome, () => `${outcome} instead of ${expected.outcome}`);
  if (outcome === 'replaced') expected.twin!.hasEnded = true;
  else if (expected.twin) {
    hold('answers', expected.twin.ref.endsWith(`:${id}`), () => `${id} instead of ${expected.twin.ref}`);
  }
  if (outcome !== 'created' && outcome !== 'replaced') return;
  know(world, `${queue}:${id}`, opts.owners, dedupOf(queue, opts));
}

function know(world: CoreWorld, ref: string, owners: string[], dedup: string | undefined): void {
  world.known.set(ref, {
    ref,
    owners,
    dedup,
    isCancelled: false,
    hasBegun: false,
    begins: 0,
    hasEnded: false,
  });
}

async function addBulk(world: CoreWorld, random: Random): Promise<void> {
  const { queue, opts } = anyRequest(random);
  const { dedup: _, jobId: __, ...rest } = opts;
  const { outcome } = await expectation(world, queue, rest);
  const isRoom = rest.owners.every(
    (owner) => (world.state.owners.get(owner)?.jobs.size ?? 0) + 3 <= MOST_JOBS_OF_AN_OWNER,
  );
  if (outcome !== 'created' || !isRoom) return;
  const each = [1, 2, 3].map((n) => ({ name: 'x', data: { n }, opts: rest }));
  const jobs = await world.queue(queue).addBulk(each);
  for (const { id } of jobs) know(world, `${queue}:${id}`, opts.owners, undefined);
}

/** Several requests in one turn of the event loop, which are sent in one step. The answers depend on each other. */
async function addTogether(world: CoreWorld, random: Random): Promise<void> {
  const requests = Array.from({ length: 4 }, () => anyRequest(random)).map(({ queue, opts }) => {
    const { jobId: _, ...rest } = opts;
    return { queue, opts: rest };
  });
  const tickets = await Promise.allSettled(
    requests.map(({ queue, opts }) => world.queue(queue).enqueue('x', {}, opts)),
  );
  const gone = new Set<string | undefined>();
  for (const [i, ticket] of tickets.entries()) {
    const { queue, opts } = requests[i]!;
    const { outcome, id, replaced } = ticket.status === 'fulfilled' ? ticket.value : { outcome: 'refused' };
    gone.add(replaced);
    world.story.push(`with others: add ${queue} ${JSON.stringify(opts)}: ${outcome} ${id}`);
    if (outcome === 'created' || outcome === 'replaced')
      know(world, `${queue}:${id}`, opts.owners, dedupOf(queue, opts));
  }
  for (const known of world.known.values()) if (gone.has(known.ref.split(':')[1])) known.hasEnded = true;
}

/** Jobs that a call removes from these places. */
async function takeAway(world: CoreWorld, places: readonly string[], act: () => Promise<unknown>) {
  const before = world.state;
  await act().catch(() => undefined);
  const { jobs } = await world.look();
  for (const known of world.known.values()) {
    const place = before.jobs.get(known.ref)?.place;
    if (!known.hasEnded && !jobs.has(known.ref) && place && places.includes(place)) known.hasEnded = true;
  }
}

async function cancel(world: CoreWorld, random: Random): Promise<void> {
  const owner = one(OWNERS, random)!;
  const close = random() < 0.4;
  const before = world.state;
  const entries = [...(before.owners.get(owner)?.jobs.keys() ?? [])];
  const running = entries.filter((ref) => before.jobs.get(ref)?.isLocked).length;
  const receipt = await world.owners.cancel(owner, { close });
  world.story.push(`${owner} ${close ? 'is closed' : 'goes on'}: ${JSON.stringify(receipt.byQueue)}`);
  for (const known of world.live()) if (known.owners.includes(owner)) known.isCancelled = true;
  if (close) world.closed.add(owner);
  const { removed, aborted } = receipt;
  hold('receipt', aborted === running, () => `told ${aborted} of ${running} runs`);
  const waited = entries.length - running;
  hold('receipt', removed === waited, () => `removed ${removed} of ${waited} jobs`);
  hold('receipt', receipt.done === (running === 0), () => `done is ${receipt.done} with ${running} runs`);
}

/** A canceller that is killed after its first command: any process may continue the clean-up. */
async function cancelAndDie(world: CoreWorld, random: Random): Promise<void> {
  const owner = one(OWNERS, random)!;
  await sendCancelOnly(world.redis, world.prefix, owner);
  for (const known of world.live()) if (known.owners.includes(owner)) known.isCancelled = true;
}

async function cancelJob(world: CoreWorld, random: Random): Promise<void> {
  const known = one(world.live(), random);
  if (!known) return;
  const [queue, id] = known.ref.split(':') as [string, string];
  const receipt = await world.owners.cancelJob(queue, id);
  hold('receipt', receipt !== undefined, () => `none for ${known.ref}`);
  known.isCancelled = true;
}

async function reopen(world: CoreWorld, random: Random): Promise<void> {
  const owner = one([...world.closed, ...OWNERS], random)!;
  await world.owners.reopen(owner);
  world.closed.delete(owner);
}

async function end(world: CoreWorld, random: Random): Promise<void> {
  if (world.runs.length === 0) return;
  // Ends two runs of one job, one at a time; the first has lost its lock.
  const oneOfEach = [...new Map(world.runs.map((run) => [run.known.ref, run])).values()];
  const runs = random() < 0.3 ? oneOfEach : [one(world.runs, random)!];
  const errorOf = () => (random() < 0.4 ? new Error('once more') : undefined);
  await world.end(runs, errorOf, random() < 0.6);
}

/** A run hands its job back, to run at once or later. */
async function giveBack(world: CoreWorld, random: Random): Promise<void> {
  const run = one(world.runs, random);
  if (!run) return;
  world.runs.splice(world.runs.indexOf(run), 1);
  const { job, token, known } = run;
  const isLater = random() < 0.5;
  await (isLater ? job.moveToDelayed(Date.now() + HOUR_MS, token) : job.moveToWait(token)).then(
    () => world.givenBack(known),
    () => undefined,
  );
}

async function loseLock(world: CoreWorld, random: Random): Promise<void> {
  const run = one(world.runs, random);
  if (!run) return;
  await world.redis.del(`${world.prefix}:${run.known.ref}:lock`);
  if (random() < 0.5) await world.findStalled(run.queue);
  // The worker was killed, or it was only slow and ends the run later.
  if (random() < 0.5) world.runs.splice(world.runs.indexOf(run), 1);
}

async function retry(world: CoreWorld, random: Random): Promise<void> {
  const ended = [...world.state.jobs].filter(([, { place }]) => place === 'failed' || place === 'completed');
  const [ref, { place }] = one(ended, random) ?? ['', { place: '' }];
  const known = world.known.get(ref);
  if (!known) return;
  const [queue, id] = ref.split(':') as [string, string];
  const job = (await world.queue(queue).getJob(id)) as Job;
  const isRefused = known.owners.some((owner) => world.closed.has(owner));
  const answer = await job.retry(place as 'failed').then(
    () => 'retried',
    (error: { code?: string }) => error.code,
  );
  const hasTwin = world.pendingOf(known.dedup, known) !== undefined;
  const expected = isRefused ? 'OWNER_CLOSED' : hasTwin ? 'DUPLICATE' : 'retried';
  hold('answers', answer === expected, () => `a retry is ${answer} instead of ${expected}`);
  if (expected !== 'retried') return;
  known.hasEnded = false;
  known.hasBegun = false;
  known.isCancelled = false;
}

async function remove(world: CoreWorld, random: Random): Promise<void> {
  const ref = one([...world.state.jobs.keys()], random);
  if (!ref) return;
  const [queue, id] = ref.split(':') as [string, string];
  await takeAway(world, [world.state.jobs.get(ref)!.place], () => world.queue(queue).remove(id));
}

/** The jobs of owners have a priority, or are in the list when they must run first. */
const WAITING = ['wait', 'paused', 'prioritized'];

const ACTS: Readonly<Record<string, readonly [weight: number, act: Act]>> = {
  add: [10, add],
  addBulk: [2, addBulk],
  addTogether: [2, addTogether],
  fetch: [10, (world, random) => world.fetch(one(QUEUES, random)!)],
  end: [8, end],
  giveBack: [2, giveBack],
  loseLock: [2, loseLock],
  findStalled: [1, (world, random) => world.findStalled(one(QUEUES, random)!)],
  promote: [2, (world, random) => world.queue(one(QUEUES, random)!).promoteJobs()],
  cancel: [2, cancel],
  cancelAndDie: [2, cancelAndDie],
  resume: [1, async (world) => void (await world.owners.resume())],
  cancelJob: [1, cancelJob],
  reopen: [2, reopen],
  retry: [2, retry],
  remove: [2, remove],
  drain: [
    1,
    (world, random) => {
      const isAll = random() < 0.5;
      const places = isAll ? [...WAITING, 'delayed'] : WAITING;
      return takeAway(world, places, () => world.queue(one(QUEUES, random)!).drain(isAll));
    },
  ],
  clean: [
    1,
    (world, random) => {
      const place = one(CLEANED, random)!;
      return takeAway(world, [place], () => world.queue(one(QUEUES, random)!).clean(0, 100, place));
    },
  ],
  pause: [1, (world, random) => world.queue(one(QUEUES, random)!).pause()],
  goOn: [1, (world, random) => world.queue(one(QUEUES, random)!).resume()],
};

const WEIGHTED = Object.entries(ACTS).flatMap(([name, [weight]]) => Array<string>(weight).fill(name));

export interface Step {
  readonly what: string;
  readonly seed: number;
}

export const coreLives: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ what: fc.constantFrom(...WEIGHTED), seed: fc.nat(1_000_000) }),
  { minLength: 1, maxLength: 60, size: 'max' },
);

/** Runs one life; returns the first broken invariant and the steps before it. */
export async function liveInCore(world: CoreWorld, life: readonly Step[]): Promise<string | undefined> {
  const violation = await violationOf(async () => {
    await world.begin();
    for (const { what, seed } of life) {
      world.story.push(what);
      await ACTS[what]![1](world, seededRandom(seed));
      await world.look();
      world.check();
    }
    await bringToAnEnd(world);
  });
  return violation && [violation, ...world.story].join('\n');
}

/** From every state all jobs can end by workers alone, once their delays are over. */
async function bringToAnEnd(world: CoreWorld): Promise<void> {
  for (const name of QUEUES) await world.queue(name).resume();
  for (const { known } of world.runs.splice(0)) await world.redis.del(`${world.prefix}:${known.ref}:lock`);
  for (const name of QUEUES) await world.findStalled(name);
  for (let before = ''; before !== progressOf(world);) {
    before = progressOf(world);
    await letDelaysPass(world);
    for (const name of QUEUES) await workOff(world, name);
  }
  for (let i = 0; i < 3; i += 1) await world.owners.resume();
  await world.look();
  world.check();
  const left = [...world.state.jobs].filter(([, job]) => isUnfinished(job));
  hold('stuck', left.length === 0, () => left.map(([ref, { place }]) => `${ref} is ${place}`).join(', '));
  const remembered = [...world.state.owners].filter(([, { state }]) => state === undefined);
  hold('record', remembered.length === 0, () => remembered.map(([name]) => name).join(' '));
  hold('fair', world.state.fair.length === 0, () => `turns of ${world.state.fair.join(' ')} are remembered`);
  hold('cancel', world.state.cancels.length === 0, () => `${world.state.cancels.length} are open`);
}

function progressOf({ begins, state }: CoreWorld): string {
  return `${begins} ${[...state.jobs.values()].map(({ place }) => place).join(' ')}`;
}

/** A job that waits for a slot is woken by the step that frees it, or by its token, not by its delay. */
async function letDelaysPass(world: CoreWorld): Promise<void> {
  await until(async () => world.isDue(), 'the tokens that are waited for have come');
  await world.look();
  const inLine = new Set([...world.state.lines.values()].flat());
  for (const [ref, { place }] of world.state.jobs) {
    const [queue, id] = ref.split(':') as [string, string];
    if (place === 'delayed' && !inLine.has(ref)) await (await world.queue(queue).getJob(id))?.promote();
  }
}

async function workOff(world: CoreWorld, queue: string): Promise<void> {
  for (let begins = -1; begins < world.begins;) {
    begins = world.begins;
    hold('stuck', begins < MOST_BEGINS, () => `${begins} runs have begun`);
    await world.look();
    await world.fetch(queue);
    while (world.runs.length > 0) await world.end(world.runs.slice(0, 1), () => undefined, true);
  }
  await world.look();
}
