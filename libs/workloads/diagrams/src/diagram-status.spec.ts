import 'reflect-metadata';
import '#nestjs/register';
import { MooringModule, JobReader, type JobView } from '#nestjs';
import { ReconcileLoop, WorkloadStoreModule } from '#workload-kit';
import type { INestApplicationContext } from '@nestjs/common';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { DiagramRepository, NO_OWNER } from './diagram-repository.js';
import { DiagramStatus } from './diagram-status.js';
import { diagrams } from './index.js';

const ID = 'a'.repeat(32);
const JOB = 'diagrams/j1';
const SETTINGS = { CHROMIUM: 'off', DIAGRAM_HEAVY: 4, DIAGRAM_WAIT: 10_000 };

describe('the status of a diagram', () => {
  let redis: Redis;
  let prefix: string;
  let context: INestApplicationContext;

  beforeEach(async () => {
    prefix = `test-${randomBytes(6).toString('hex')}`;
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    await redis.ping();
    vi.spyOn(ReconcileLoop.prototype, 'onApplicationBootstrap').mockImplementation(() => undefined);
    const imports = [
      MooringModule.forRoot({ connection: redis, prefix, listeners: [] }),
      WorkloadStoreModule.forRoot(redis, prefix),
      await diagrams.moduleFor('api', SETTINGS),
    ];
    context = await startNestApp({ imports });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await context.close();
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
    await redis.quit();
  });

  it('has the line of an error that was recorded after the diagram was read', async () => {
    const repository = context.get(DiagramRepository, { strict: false });
    const asked = await repository.ask(
      ID,
      { type: 'graphviz', output: 'svg', source: 'digraph {' },
      NO_OWNER,
    );
    if (asked.word !== 'ask') throw new Error('The first request enqueues the job.');
    await repository.noted({ id: ID, ...asked }, JOB, '');
    await repository.begin(ID, JOB, '', 'graphviz');
    const readBefore = (await repository.find(ID))!;

    await repository.recordFlaw(ID, JOB, { message: 'syntax error in line 1', line: 1 });
    const failed = { state: 'failed', error: 'syntax error in line 1' } as JobView;
    vi.spyOn(context.get(JobReader, { strict: false }), 'read').mockResolvedValue(failed);
    const status = await context.get(DiagramStatus, { strict: false }).look(readBefore);

    expect(readBefore.flaw).toBeUndefined();
    expect(status).toEqual({ state: 'failed', flaw: { message: 'syntax error in line 1', line: 1 } });
  });
});
