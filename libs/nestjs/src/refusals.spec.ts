import { BullModule } from '@nestjs/bullmq';
import type { ModuleMetadata } from '@nestjs/common';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit } from '../../../test/support/core-kit.js';
import { startNestApp } from '../../../test/support/nest-app.js';
import { MooringModule, MooringSetupError } from './index.js';
import { registerMooredClasses } from './register.js';

describe('an invalid application', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const ownersOf = () => ['user:1'];
  const registered = (prefix = kit.prefix) =>
    BullModule.registerQueue({ name: 'audio', connection: kit.redis, prefix });

  async function refusalOf(...imports: NonNullable<ModuleMetadata['imports']>): Promise<Error> {
    const started = startNestApp({ imports });
    const refused: unknown = await started.then(
      (app) => app.close(),
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(MooringSetupError);
    return refused as Error;
  }

  it('is refused when a queue has two forQueue', async () => {
    const { message } = await refusalOf(
      registered(),
      MooringModule.forQueue('audio', { ownersOf }),
      MooringModule.forQueue('audio', { runTimeout: '1s' }),
    );

    expect(message).toBe(
      "MooringModule.forQueue('audio') is called twice in this application. Keep one call, with all options of the queue.",
    );
  });

  it('is refused when the queue of a forQueue is registered nowhere', async () => {
    const { message } = await refusalOf(registered(), MooringModule.forQueue('adio', { ownersOf }));

    expect(message).toBe(
      "MooringModule.forQueue('adio') names a queue that no module registers. " +
        "Add BullModule.registerQueue({ name: 'adio' }), or correct the name.",
    );
  });

  it.each([
    { module: 'forQueue', mooring: () => MooringModule.forQueue('audio', { ownersOf }) },
    { module: 'forRoot', mooring: () => MooringModule.forRoot(kit.place) },
  ])('is refused by $module when its queues were registered before the classes', async ({ mooring }) => {
    BullModule.queueClass = Queue;
    const tooEarly = registered();
    registerMooredClasses();

    const { message } = await refusalOf(mooring(), tooEarly);

    expect(message).toBe(
      `Queue "audio" was registered before '@mooring/nestjs/register' was imported, so its jobs can have no owners. ` +
        `Make import '@mooring/nestjs/register' the first line of main.ts.`,
    );
  });

  it('is refused when its owners have another prefix than its queue', async () => {
    const { message } = await refusalOf(
      MooringModule.forRoot(kit.place),
      registered(`${kit.prefix}-other`),
      MooringModule.forQueue('audio', { ownersOf }),
    );

    expect(message).toBe(
      `Queue "audio" has the prefix "${kit.prefix}-other" and MooringModule.forRoot has "${kit.prefix}", ` +
        'so a cancel would not find its jobs. Give both the same prefix.',
    );
    const keys = await kit.redis.keys(`${kit.prefix}-other*`);
    if (keys.length > 0) await kit.redis.del(keys);
  });

  it('is refused when an interval of its sweeps is invalid', async () => {
    const sweeps = { adoptEvery: '0s' };

    const { message } = await refusalOf(MooringModule.forRoot({ ...kit.place, sweeps }));

    expect(message).toBe('sweeps.adoptEvery is at least 100ms and at most 24d; got "0s".');
  });

  it('starts when a test has replaced a queue', async () => {
    const audio = { provide: 'BullQueue_audio', useValue: { add: () => undefined } };
    const app = await startNestApp({
      imports: [MooringModule.forQueue('audio', { ownersOf })],
      providers: [audio],
    });

    expect(app.get('BullQueue_audio')).toBe(audio.useValue);
    await app.close();
  });
});
