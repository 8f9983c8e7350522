// A producer, a worker or a canceller in a process of its own, for tests that kill it.
import { MooredQueue, MooredWorker, Owners } from '#core';
import { Redis } from 'ioredis';

const [role, url, prefix, seed] = process.argv.slice(2);
const connection = new Redis(url, { maxRetriesPerRequest: null });
const place = { connection, prefix };
const owners = (n) => [`trip:${n % 20}`, ...(n % 3 === 0 ? [`user:${n % 7}`] : [])];

const roles = {
  async producer() {
    const queue = new MooredQueue('audio', place);
    for (let n = Number(seed); ; n += 1) {
      const opts = {
        owners: owners(n),
        attempts: 2,
        ...(n % 5 === 0 && { delay: 20 }),
        ...(n % 4 === 0 && { slot: { key: 'gpu', limit: 2 } }),
      };
      const dedup = n % 6 === 0 && { dedup: { strategy: ['skip', 'replace', 'coalesce'][n % 3], key: 'k' } };
      await Promise.all([queue.add('x', { n }, { ...opts, ...dedup }), queue.add('y', { n }, opts)]);
    }
  },
  async worker() {
    const work = async (job) => {
      if (job.data.n % 9 === 0 && job.attemptsMade === 0) throw new Error('once more');
    };
    new MooredWorker('audio', work, {
      ...place,
      concurrency: 10,
      lockDuration: 1_000,
      stalledInterval: 500,
    }).on('error', () => {});
  },
  async canceller() {
    const all = new Owners(place);
    for (let n = Number(seed); ; n += 1) await all.cancel(`trip:${n % 20}`, { close: false });
  },
};

process.send?.('started');
await roles[role]();
