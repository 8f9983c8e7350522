// A producer, a worker or a canceller that runs a fixed list of calls and exits, for tests that kill it at one of its
// commands. It begins when it gets a message: for example the jobs that a worker has to complete.
import { once } from 'node:events';
import { MooredFlowProducer, MooredQueue, MooredWorker, Owners } from '#core';
import { Redis } from 'ioredis';

const HOUR_MS = 3_600_000;
const [role, url, prefix] = process.argv.slice(2);
const connection = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 5 });
const place = { connection, prefix };
// All users of a lost connection get an error.
const calm = (one) => one.on('error', () => {});

const roles = {
  async producer() {
    const queue = calm(new MooredQueue('audio', place));
    const flows = calm(new MooredFlowProducer(place));
    const add = (name, opts) => queue.add(name, {}, { owners: ['trip:1'], ...opts });
    await add('one');
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => add(`batch-${n}`, { owners: ['trip:2', `user:${n % 3}`] })),
    );
    await queue.addBulk(
      [1, 2, 3].map((n) => ({ name: `bulk-${n}`, data: {}, opts: { owners: ['trip:1'], delay: n * 10 } })),
    );
    for (const strategy of ['skip', 'replace', 'coalesce']) {
      await add(`${strategy}-1`, { dedup: { strategy, key: strategy } });
      await add(`${strategy}-2`, { dedup: { strategy, key: strategy } });
    }
    await Promise.all([1, 2, 3].map((n) => add(`slot-${n}`, { slot: { key: 'gpu', limit: 1 } })));
    const children = [1, 2].map((n) => ({ name: `child-${n}`, queueName: 'audio', data: {} }));
    await flows.add({ name: 'top', queueName: 'audio', data: {}, opts: { owners: ['trip:3'] }, children });
    const template = { name: 'turn', data: {}, opts: { owners: ['cron:1'] } };
    await queue.upsertJobScheduler('hourly', { every: HOUR_MS }, template);
    const gone = await add('gone', { owners: ['cron:1'], delay: HOUR_MS });
    await gone.changeDelay(2 * HOUR_MS);
    await gone.remove();
    await queue.removeJobScheduler('hourly');
  },
  async worker(jobs) {
    const ended = new Set();
    let allEnded;
    const untilAllEnded = new Promise((resolve) => (allEnded = resolve));
    const note = ({ id }) => ended.add(id).size >= jobs && allEnded();
    const work = async (job) => {
      // BullMQ emits no event when the answer to the end of a run is lost; closing waits for it.
      if (!job.opts.owners) note(job);
      if (job.name === 'fails once' && job.attemptsMade === 0) throw new Error('once more');
    };
    const worker = calm(
      new MooredWorker('audio', work, { ...place, concurrency: 3, lockDuration: 400, stalledInterval: 250 }),
    );
    // A run of an owner is also over when its answer is lost.
    for (const event of ['completed', 'lost']) worker.on(event, note);
    await untilAllEnded;
    // The list is done: the commands of closing do not count, and no fault is injected in them.
    const sent = globalThis.commandsSent;
    globalThis.commandsSent = Infinity;
    await worker.close();
    return sent;
  },
  /** What depends on the producer's clock, or must not depend on it. */
  async timekeeper() {
    const queue = calm(new MooredQueue('audio', place));
    const add = (name, opts) => queue.add(name, {}, { owners: ['trip:1'], ...opts });
    await add('in time', { expiresIn: '10m' });
    await add('out of time', { owners: ['trip:2'], expiresIn: 1 });
    const dedup = { strategy: 'coalesce', key: 'k', longestWait: '10m' };
    for (let n = 0; n < 2; n += 1) await add('coalesced', { owners: ['trip:3'], delay: 300_000, dedup });
  },
  async canceller() {
    const owners = new Owners(place);
    await owners.cancel('trip:1', { cancelId: 'c-1', close: false });
    await owners.cancelJob('audio', 'alone', { cancelId: 'c-2' });
    await owners.cancel('user:1', { cancelId: 'c-3', reason: 'gone' });
    await owners.reopen('user:1');
    await owners.cancel('flow:1', { cancelId: 'c-4', close: false, wait: 'drained', waitFor: '2s' });
    await owners.resume();
    await owners.close();
  },
};

await connection.ping();
process.send('started');
const [jobs] = await once(process, 'message');
const sent = await roles[role](Number(jobs));
process.send({ commands: sent ?? globalThis.commandsSent }, () => process.exit(0));
