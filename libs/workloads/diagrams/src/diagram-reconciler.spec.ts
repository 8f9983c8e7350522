import 'reflect-metadata';
import '#nestjs/register';
import { Journal, MooringModule, StoreUnavailableError } from '#nestjs';
import { ReconcileLoop, WorkloadStoreModule, type OwnerCancel, type Process } from '#workload-kit';
import type { INestApplicationContext } from '@nestjs/common';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { until } from '../../../../test/support/until.js';
import { askedBy } from './diagram-keys.js';
import { DiagramReconciler } from './diagram-reconciler.js';
import { DiagramRepository } from './diagram-repository.js';
import { diagrams } from './index.js';

const [A, B] = ['a'.repeat(32), 'b'.repeat(32)];
const SETTINGS = { CHROMIUM: 'off', DIAGRAM_HEAVY: 4, DIAGRAM_WAIT: 10_000 };

describe('the reconciler of diagrams', () => {
  let redis: Redis;
  let prefix: string;
  let context: INestApplicationContext;
  let repository: DiagramRepository;
  let reconciler: DiagramReconciler;

  beforeEach(async () => {
    prefix = `test-${randomBytes(6).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    // No other reconciler may run.
    vi.spyOn(ReconcileLoop.prototype, 'onApplicationBootstrap').mockImplementation(() => undefined);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await context.close();
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
    await redis.quit();
  });

  async function start(app: Process): Promise<void> {
    const imports = [
      MooringModule.forRoot({ connection: redis, prefix, listeners: [] }),
      WorkloadStoreModule.forRoot(redis, prefix),
      await diagrams.moduleFor(app, SETTINGS),
    ];
    context = await startNestApp({ imports });
    repository = context.get(DiagramRepository, { strict: false });
    reconciler = context.get(DiagramReconciler, { strict: false });
  }

  it('handles the requests of cancelled owners, and ends jobs that a dead process left', async () => {
    await start('janitor');
    vi.spyOn(repository, 'take').mockResolvedValueOnce(['diagrams/j1']).mockResolvedValue([]);
    const end = vi.spyOn(reconciler, 'end').mockResolvedValue();
    const gone = vi.spyOn(reconciler, 'ownerGone');
    await repository.noteGone('trip:a b', '6');
    await reconciler.reconcileOnce();
    expect([end.mock.calls, gone.mock.calls]).toEqual([[['0', 'diagrams/j1']], [['trip:a b', '6']]]);
    expect(await redis.keys(`${prefix}:{diagrams}:gone`)).toEqual([]);
  });

  it('keeps what an owner requests again while its earlier request is removed', async () => {
    await start('janitor');
    const request = { type: 'graphviz', output: 'svg', source: 'a' } as const;
    const askedFor = (): Promise<string[]> => redis.zrange(askedBy(prefix, 'trip:1'), '0', '-1');
    await repository.ask(A, request, { owner: 'trip:1', epoch: '5' });
    await redis.zadd(askedBy(prefix, 'trip:1'), 1, A, 1, B);
    const strike = repository.strike.bind(repository);
    vi.spyOn(repository, 'strike').mockImplementation(async (id, owner, epoch) => {
      const word = await strike(id, owner, epoch);
      if (id === A && epoch === '6') await repository.ask(A, request, { owner, epoch });
      return word;
    });
    await reconciler.ownerGone('trip:1', '6');
    expect(await askedFor()).toContain(A);
    await reconciler.ownerGone('trip:1', '7');
    expect(await askedFor()).toEqual([B]);
  });

  it.each([
    ['6', '6'],
    // The owner has no record, and epochs are times in µs.
    ['', '1235000'],
  ])('is told of a cancelled owner of epoch "%s" once it is recorded', async (epoch, recorded) => {
    await start('api');
    const gone = vi.spyOn(reconciler, 'ownerGone').mockRejectedValue(new StoreUnavailableError('away'));
    const note = vi.spyOn(repository, 'noteGone').mockRejectedValueOnce(new StoreUnavailableError('away'));
    const cancel = { event: 'owner.cancelled', owner: 'trip:1', epoch, at: 1_234 } as OwnerCancel;
    context.get(Journal).tell(cancel);
    expect(note).toHaveBeenCalledTimes(1);
    await until(() => gone.mock.calls.length > 0, 'it is seen to');
    expect(note).toHaveBeenCalledTimes(2);
    expect(await redis.zrange(`${prefix}:{diagrams}:gone`, '0', '-1')).toEqual([`${recorded} trip:1`]);
  });
});
