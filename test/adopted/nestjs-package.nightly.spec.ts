import { symlink, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CoreKit } from '../support/core-kit.js';
import { Installed } from '../support/packed.js';
import { root } from '../support/process.js';

const NEST = ['@nestjs/bullmq', '@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];

describe('the package @mooring/nestjs', () => {
  let app: Installed;
  let kit: CoreKit;

  beforeAll(async () => {
    kit = new CoreKit();
    app = await Installed.of('durability', 'core', 'nestjs');
    await mkdir(join(app.folder, 'node_modules/@nestjs'));
    for (const name of NEST)
      await symlink(join(root, 'node_modules', name), join(app.folder, 'node_modules', name));
  }, 180_000);

  afterAll(async () => {
    await kit.stop();
    await app.remove();
  });

  it('stops a running job of an application when its owner is cancelled', async () => {
    const place = { connection: { url: inject('storeUrl') }, prefix: kit.prefix };

    expect(await app.run('main.mjs', PROGRAM.replace('PLACE', JSON.stringify(place)))).toEqual({
      aborted: 1,
      done: true,
      stopped: ['transcode'],
      isSameClass: true,
    });
  });

  it('includes its types', async () => {
    expect(await app.compile('typed.ts', TYPED)).toBe('');
  });
});

const PROGRAM = `
import '@mooring/nestjs/register';
import { MooredQueue, Owners } from '@mooring/core';
import { MooringModule } from '@mooring/nestjs';
import { BullModule, getQueueToken, Processor, WorkerHost } from '@nestjs/bullmq';
import { NestFactory } from '@nestjs/core';
import { once } from 'node:events';

const place = PLACE;
const stopped = [];
const begun = deferred();

class AudioProcessor extends WorkerHost {
  async process(job, _token, signal) {
    begun.resolve();
    if (!signal.aborted) await once(signal, 'abort');
    stopped.push(job.name);
  }
}
Processor('audio')(AudioProcessor);
class App {}
const module = {
  module: App,
  imports: [
    MooringModule.forRoot({ ...place, sweeps: true }),
    MooringModule.forQueue('audio', { ownersOf: ({ data }) => ['track:' + data.trackId] }),
    BullModule.forRoot(place),
    BullModule.registerQueue({ name: 'audio' }),
  ],
  providers: [AudioProcessor],
};
const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
const queue = app.get(getQueueToken('audio'));
await queue.add('transcode', { trackId: 17 });
await begun.promise;
const { aborted, done } = await app.get(Owners).cancel('track:17', { wait: 'drained' });
await app.close();
console.log(JSON.stringify({ aborted, done, stopped, isSameClass: queue instanceof MooredQueue }));

function deferred() {
  const made = {};
  made.promise = new Promise((resolve) => (made.resolve = resolve));
  return made;
}
`;

const TYPED = `
import '@mooring/nestjs/register';
import { MooringModule, type ForQueueOptions, type MooringOptions } from '@mooring/nestjs';
import type { DynamicModule } from '@nestjs/common';

const options: MooringOptions = { connection: { host: '127.0.0.1' }, prefix: 'bull', sweeps: { adoptEvery: '1m' } };
export const root: DynamicModule = MooringModule.forRoot(options);
export const later = MooringModule.forRootAsync({ inject: ['config'], useFactory: (config: MooringOptions) => config });
const audio: ForQueueOptions = { ownersOf: ({ data }) => [\`track:\${data.trackId}\`], runTimeout: '10m', limits: { perOwner: 10 } };
export const queue = MooringModule.forQueue('audio', audio);
// @ts-expect-error an owner is no number
export const wrong = MooringModule.forQueue('audio', { ownersOf: () => [1] });
`;
