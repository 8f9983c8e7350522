import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CoreKit } from '../support/core-kit.js';
import { Installed } from '../support/packed.js';

/**
 * Adds what the README does not show. The work continues until it is told to stop, so the cancel always finds the job.
 */
const BEFORE = `
const trackId = '17';
const transcode = (id, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve));
`;
const AFTERWARDS = `
const ended = receipt.removed + receipt.aborted;
await Promise.all([worker.close(), queue.close(), owners.close()]);
console.log(JSON.stringify({ ended, closed: receipt.closed, owner: receipt.owner }));
`;

describe('the package @mooring/core', () => {
  let app: Installed;
  let kit: CoreKit;

  beforeAll(async () => {
    kit = new CoreKit();
    app = await Installed.of('durability', 'core');
  });

  afterAll(async () => {
    await kit.stop();
    await app.remove();
  });

  it('runs the first example of its README with only BullMQ and ioredis', async () => {
    const example = await firstExample();

    expect(await app.run('example.mjs', BEFORE + example + AFTERWARDS)).toEqual({
      ended: 1,
      closed: true,
      owner: 'track:17',
    });
  });

  it('is loaded by a CommonJS program with import()', async () => {
    const text = `import('@mooring/core').then((core) => console.log(JSON.stringify(Object.keys(core).toSorted())))`;

    expect(await app.run('old.cjs', text)).toEqual(
      expect.arrayContaining(['MooredFlowProducer', 'MooredQueue', 'MooredWorker', 'Owners', 'owner']),
    );
  });

  it('finds neither Nest nor zod where it is installed', () => {
    const { resolve } = createRequire(join(app.folder, 'node_modules/@mooring/core/package.json'));

    expect(resolve('bullmq')).toContain('bullmq');
    for (const name of ['@nestjs/common', 'zod']) expect(() => resolve(name)).toThrow('Cannot find module');
  });

  it("includes its types, and those of BullMQ's options", async () => {
    expect(await app.compile('typed.ts', TYPED)).toBe('');
  });

  /** Uses the store and the prefix of this test. */
  async function firstExample(): Promise<string> {
    const readme = await readFile(join(app.folder, 'node_modules/@mooring/core/README.md'), 'utf8');
    const [, example] = /```js\n(.*?)```/s.exec(readme)!;
    return example!
      .replaceAll("prefix: 'bull'", `prefix: '${kit.prefix}'`)
      .replace('redis://127.0.0.1:6379', inject('storeUrl'));
  }
});

const TYPED = `
import { MooredQueue, MooredWorker, Owners, owner, type OwnersOf, type Receipt } from '@mooring/core';
import { Queue, Worker, type QueueOptions, type WorkerOptions } from 'bullmq';

const connection = { host: '127.0.0.1' };
const ownersOf: OwnersOf = ({ data }) => [\`user:\${data.userId}\`];
const given: QueueOptions = { connection, prefix: 'bull', limits: { perOwner: 10 }, ownersOf };
const queue: Queue = new MooredQueue('audio', given);
export const added = queue.add('x', {}, { owners: ['track:1', owner('user', '2')], expiresIn: '5m' });
// @ts-expect-error an owner is no number
export const wrong = queue.add('x', {}, { owners: [1] });
const options: WorkerOptions = { connection, ownersOf, runTimeout: '1m' };
export const worker: Worker = new MooredWorker('audio', async (job, token, signal) => signal?.aborted, options);
export const receipt: Promise<Receipt> = new Owners({ connection }).cancel('track:1');
`;
