import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CoreKit } from '../support/core-kit.js';
import { Installed } from '../support/packed.js';

describe('the package @mooring/partitions', () => {
  let app: Installed;
  let kit: CoreKit;

  beforeAll(async () => {
    kit = new CoreKit();
    app = await Installed.of('durability', 'core', 'partitions');
  });

  afterAll(async () => {
    const keys = await kit.redis.keys(`*${kit.prefix}*`);
    if (keys.length > 0) await kit.redis.del(keys);
    await kit.stop();
    await app.remove();
  });

  it('cancels the jobs of an owner in all partitions, next to the package of the core', async () => {
    // The kit is that of the core: its own prefix has one partition.
    const prefix = `${kit.prefix}-in-3`;
    const place = { prefix, partitions: 3, connection: { url: inject('storeUrl') } };

    expect(await app.run('program.mjs', `const place = ${JSON.stringify(place)};${PROGRAM}`)).toEqual({
      prefixes: [0, 1, 2].map((at) => `{${prefix}~${at}}`),
      removed: 12,
      left: 0,
      isSameError: true,
    });
  });

  it('includes its types, and those of the core', async () => {
    expect(await app.compile('typed.ts', TYPED)).toBe('');
  });
});

const PROGRAM = `
import * as core from '@mooring/core';
import { InvalidJobError, MooredQueue, Owners, partitionPrefixes } from '@mooring/partitions';

const queue = new MooredQueue('audio', place);
const owners = new Owners(place);
const jobs = Array.from({ length: 12 }, (_, n) => ({ name: 'x', data: {}, opts: { owners: ['track:' + n, 'user:1'] } }));
await queue.addBulk(jobs);
const { removed } = await owners.cancel('user:1');
const left = await queue.count();
await Promise.all([queue.close(), owners.close()]);
const isSameError = core.InvalidJobError === InvalidJobError;
console.log(JSON.stringify({ prefixes: partitionPrefixes(place), removed, left, isSameError }));
`;

const TYPED = `
import { MooredQueue, MooredWorker, Owners, Slots, type OwnersOptions, type Receipt } from '@mooring/partitions';
import { MooredQueue as PlainQueue } from '@mooring/core';

const place: OwnersOptions = { connection: { host: '127.0.0.1' }, prefix: 'bull', partitions: 4 };
const queue: PlainQueue = new MooredQueue('audio', place);
export const added = queue.add('x', {}, { owners: ['track:1'], expiresIn: '5m' });
export const worker = new MooredWorker('audio', async (job, token, signal) => signal?.aborted, { ...place, runTimeout: '1m' });
export const receipt: Promise<Receipt> = new Owners(place).cancel('track:1');
export const slot = new Slots(place).get('gpu');
// @ts-expect-error the class of the core has one partition
export const wrong = new PlainQueue('audio', { connection: { host: '127.0.0.1' }, partitions: 4 });
`;
