import './register.js';
import { MooredQueue, Owners, Slots } from '#core';
import { BullModule, getQueueToken, Processor, WorkerHost, type RegisterQueueOptions } from '@nestjs/bullmq';
import { Inject, Injectable, type INestApplicationContext, type Provider } from '@nestjs/common';
import type { Job } from 'bullmq';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { CoreKit, until } from '../../../test/support/core-kit.js';
import { startNestApp } from '../../../test/support/nest-app.js';
import { freePorts, RedisServer } from '../../../test/support/redis-server.js';
import { MooringModule, type ForQueueOptions } from './index.js';

const ownersOf: NonNullable<ForQueueOptions['ownersOf']> = ({ data }) =>
  data.trackId ? [`track:${data.trackId}`] : [];

@Processor('audio')
class AudioProcessor extends WorkerHost {
  readonly ran: string[] = [];
  readonly stopped: string[] = [];

  async process(job: Job, _token?: string, signal?: AbortSignal): Promise<void> {
    this.ran.push(job.id!);
    if (!job.data.untilStopped) return;
    if (!signal!.aborted) await once(signal!, 'abort');
    this.stopped.push(job.id!);
  }
}

/** Names owners itself, so its options take precedence. */
@Processor('audio', { ownersOf: () => ['user:own'] })
class OwnAudioProcessor extends AudioProcessor {}

@Injectable()
class EarlyCaller {
  first: Promise<unknown> | undefined;

  constructor(@Inject(Owners) private readonly owners: Owners) {}

  onModuleInit(): void {
    this.first = this.owners.cancel('track:17');
  }
}

describe('an application with queues of its own', () => {
  let kit: CoreKit;
  const apps: INestApplicationContext[] = [];

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await kit.stop();
  });

  const place = (url = inject('storeUrl')) => ({ connection: { url }, prefix: kit.prefix });

  interface AppOptions {
    readonly queue?: ForQueueOptions | undefined;
    readonly registered?: Omit<RegisterQueueOptions, 'name'>;
  }

  /** Without `queue` it has no forQueue. */
  async function start(providers: Provider[], { queue, registered }: AppOptions = {}) {
    const imports = [
      BullModule.forRoot(place()),
      BullModule.registerQueue({ name: 'audio', ...registered }),
      MooringModule.forRoot(place()),
      ...(queue ? [MooringModule.forQueue('audio', queue)] : []),
    ];
    const app = await startNestApp({ imports, providers });
    apps.push(app);
    return app;
  }

  it('keeps its own queue, now with owners, and can inject Owners and Slots', async () => {
    const app = await start([], { queue: { ownersOf } });

    expect(app.get(getQueueToken('audio'))).toBeInstanceOf(MooredQueue);
    expect(app.get(Owners)).toBeInstanceOf(Owners);
    expect(app.get(Slots)).toBeInstanceOf(Slots);
  });

  it('may take its options from a factory', async () => {
    const root = MooringModule.forRootAsync({ inject: [], useFactory: () => Promise.resolve(place()) });
    const app = await startNestApp({ imports: [root] });
    apps.push(app);
    await kit.queue().add('transcode', {}, { owners: ['track:17'] });

    expect(await app.get(Owners).cancel('track:17')).toMatchObject({ removed: 1 });
  });

  it("names the owners of the jobs that it adds and of the plain producers' jobs that it runs", async () => {
    await kit.owners.cancel('track:closed');
    const app = await start([AudioProcessor], { queue: { ownersOf } });
    const queue = app.get<MooredQueue>(getQueueToken('audio'));

    await expect(queue.add('transcode', { trackId: 'closed' })).rejects.toThrow('track:closed is closed');
    await kit.plainQueue().add('transcode', { trackId: 'closed' });

    await until(async () => (await kit.owners.history('track:closed')).length === 1, 'it was refused');
    expect(app.get(AudioProcessor).ran).toEqual([]);
  });

  it('prefers the options that the queue and the processor were given directly', async () => {
    await kit.owners.cancel('track:closed');
    await kit.owners.cancel('user:own');
    const limits = { perOwner: 1 };
    const app = await start([OwnAudioProcessor], {
      queue: { ownersOf, limits: { perOwner: 5 } },
      registered: { ownersOf: () => ['user:direct'], limits },
    });
    const queue = app.get<MooredQueue>(getQueueToken('audio'));

    const job = await queue.add('transcode', { trackId: 'closed' }, { delay: 3_600_000 });
    await kit.plainQueue().add('transcode', {});

    expect(job.opts.owners).toEqual(['user:direct']);
    await expect(queue.add('transcode', {})).rejects.toThrow('user:direct has as many jobs as it may have');
    await until(async () => (await kit.owners.history('user:own')).length === 1, 'it was refused');
    await kit.owners.cancel('user:direct', { wait: 'drained' });
  });

  it('limits its jobs and their runs', async () => {
    const app = await start([AudioProcessor], {
      queue: { ownersOf, limits: { perOwner: 1 }, runTimeout: '50ms' },
    });
    const queue = app.get<MooredQueue>(getQueueToken('audio'));

    const job = await queue.add('transcode', { trackId: '17', untilStopped: true });

    await expect(queue.add('transcode', { trackId: '17' })).rejects.toThrow('as many jobs as it may have');
    await until(() => app.get(AudioProcessor).stopped.includes(job.id!), 'it was told to stop');
    await until(() => job.isCompleted(), 'it is completed');
  });

  it('cancels a running job of a processor', async () => {
    const app = await start([AudioProcessor], { queue: { ownersOf } });
    const queue = app.get<MooredQueue>(getQueueToken('audio'));
    const job = await queue.add('transcode', { trackId: '17', untilStopped: true });
    await until(() => app.get(AudioProcessor).ran.length === 1, 'it runs');

    const receipt = await app.get(Owners).cancel('track:17', { wait: 'drained' });

    expect(receipt).toMatchObject({ removed: 0, aborted: 1, acknowledged: 1, done: true });
    expect(app.get(AudioProcessor).stopped).toEqual([job.id]);
  });

  it('answers a cancel that is sent during module initialization', async () => {
    const app = await start([EarlyCaller]);

    expect(await app.get(EarlyCaller).first).toMatchObject({ closed: true });
  });

  it('lets a cancel wait for a store that starts later than the application', async () => {
    const [port] = (await freePorts(1)) as [number];
    const imports = [MooringModule.forRoot(place(`redis://127.0.0.1:${port}`))];
    const app = await startNestApp({ imports, providers: [EarlyCaller] });
    const server = await RedisServer.start(port, { save: '""' });

    expect(await app.get(EarlyCaller).first).toMatchObject({ closed: true });

    await app.close();
    await server.stop();
  });

  it('does not share options with an application that was started before', async () => {
    await start([], { queue: { ownersOf } });
    const app = await start([AudioProcessor]);
    const queue = app.get<MooredQueue>(getQueueToken('audio'));
    await kit.owners.cancel('track:closed');

    const job = await queue.add('transcode', { trackId: 'closed' });

    await until(() => app.get(AudioProcessor).ran.includes(job.id!), 'it has run');
  });
});
