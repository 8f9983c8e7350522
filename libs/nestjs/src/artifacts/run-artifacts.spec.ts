import 'reflect-metadata';
import { Processor } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { KeptArtifacts } from '../../../../test/support/kept-artifacts.js';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { Flows } from '../flows/flows.js';
import { defineKind, type Payload } from '../kinds/kind.js';
import { queueOfJobId } from '../kinds/job-ids.js';
import { Handler, Handles } from '../run/handler.js';
import { KindProcessor } from '../run/kind-processor.js';
import type { Run } from '../run/run.js';
import { CommittedArtifacts } from './committed-artifacts.js';
import type { ArtifactStore } from './artifact-store.js';

const payload = z.object({ does: z.string() });
const maker = defineKind({
  name: 'maker',
  queue: 'makers',
  payload,
  attempts: 2,
  backoff: ['1ms'],
  grace: '200ms',
  artifacts: true,
});
const bare = defineKind({ name: 'bare', queue: 'makers', payload });
const seen: string[] = [];

@Handles(maker)
class MakerHandler extends Handler<typeof maker> {
  async handle({ does }: Payload<typeof maker>, { artifacts, attempt, signal }: Run): Promise<void> {
    if (does === 'nothing') return;
    await artifacts.put(`a of ${attempt}`, 'bytes');
    seen.push(artifacts.list()[0]!.name);
    if (does === 'fail once' && attempt === 1) throw new Error('no');
    if (does === 'fail') throw new Error('no');
    if (does === 'wait') {
      await once(signal, 'abort');
      await artifacts.put('late', 'bytes').catch((error: { code: string }) => seen.push(error.code));
    }
    if (does === 'ignore') {
      await until(() => seen.includes('ended'), 'the job has ended');
      await artifacts.put('later', 'bytes').catch((error: { code: string }) => seen.push(error.code));
    }
    if (does === 'let go') void this.putLate(artifacts);
  }

  private async putLate(artifacts: Run['artifacts']): Promise<void> {
    const slow = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
      await until(() => seen.includes('ended'), 'the job has ended');
      yield Buffer.from('b');
    };
    await artifacts.put('late', slow()).catch((error: { code: string }) => seen.push(error.code));
  }
}

@Handles(bare)
class BareHandler extends Handler<typeof bare> {
  async handle(_: unknown, { artifacts }: Run): Promise<void> {
    await artifacts.put('a', 'bytes');
  }
}

@Processor('makers', { concurrency: 5 })
class Makers extends KindProcessor {}

describe('the artifacts of a run', () => {
  let app: KindApp;
  let kept: KeptArtifacts;
  let context: INestApplicationContext;

  beforeEach(async () => {
    seen.length = 0;
    app = new KindApp();
    kept = await KeptArtifacts.open(app.prefix);
    const artifacts: ArtifactStore = kept.store;
    context = await app.start([maker, bare], [MakerHandler, BareHandler, Makers], { artifacts });
  });

  afterEach(async () => {
    await kept.clear();
    await app.stop();
    await kept.close();
  });

  const queue = () => context.get(QueueRegistry).get('makers');
  const names = async (id: string) =>
    (await context.get(CommittedArtifacts).list(id)).map(({ name }) => name);
  const untilState = (id: string, state: string) =>
    until(async () => (await queue().getJobState(id)) === state, `${id} is ${state}`);

  async function enqueue(does: string, kind = maker): Promise<string> {
    return (await context.get(Enqueuer).enqueue(kind, { does }, { owners: ['trip:42'] })).id;
  }

  it('may be removed before their job', async () => {
    const id = await enqueue('put');
    await untilState(id, 'completed');
    expect(await names(id)).not.toEqual([]);
    await context.get(CommittedArtifacts).removeAll(id);
    expect([await names(id), await kept.jobs()]).toEqual([[], []]);
  });

  it('are shown when the job completes, and those of a failed attempt are removed', async () => {
    const id = await enqueue('fail once');
    await until(() => seen.length === 1, 'it has put something');
    expect(await names(id)).toEqual([]);
    await untilState(id, 'completed');

    expect([seen, await names(id), await kept.store.list(id, '1')]).toEqual([
      ['a of 1', 'a of 2'],
      ['a of 2'],
      [],
    ]);
    const opened = await context.get(CommittedArtifacts).open(id, 'a of 2');
    expect((await opened!.bytes.toArray()).join('')).toBe('bytes');
    expect(queueOfJobId((await kept.jobs())[0]!)).toBe('makers');
  });

  it('are removed when the job fails finally', async () => {
    const id = await enqueue('fail');
    await untilState(id, 'failed');

    expect([await names(id), await kept.jobs()]).toEqual([[], []]);
  });

  it('are removed before the job when its owner is cancelled', async () => {
    const id = await enqueue('wait');
    await until(() => seen.length === 1, 'it has put something');

    await app.owners.cancel('trip:42', { wait: 'drained' });

    expect(seen).toEqual(['a of 1', 'RUN_OVER']);
    await untilState(id, 'unknown');
    expect(await kept.jobs()).toEqual([]);
  });

  it('do not count when they are stored after the end of the run', async () => {
    const id = await enqueue('let go');
    await untilState(id, 'completed');
    seen.push('ended');
    await until(() => seen.includes('RUN_OVER'), 'it was refused');

    expect(await names(id)).toEqual(['a of 1']);
  });

  it('do not count when an abandoned run stores them', async () => {
    const id = await enqueue('ignore');
    await until(() => seen.length === 1, 'it has put something');
    await app.owners.cancel('trip:42', { wait: 'drained' });
    await untilState(id, 'unknown');
    seen.push('ended');
    await until(() => seen.includes('RUN_OVER'), 'it was refused');

    await until(async () => (await kept.jobs()).length === 0, 'they are removed');
  });

  it('cost nothing when a run stores none', async () => {
    const calls = (['put', 'list', 'removeRun'] as const).map((name) => vi.spyOn(kept.store, name));
    await untilState(await enqueue('nothing'), 'completed');

    expect(calls.flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  it('of an overtaken run are never shown', async () => {
    const id = await enqueue('work');
    await untilState(id, 'completed');
    await kept.store.put({ jobId: id, fence: '7' }, 'of a lost run', 'bytes');

    expect(await names(id)).toEqual(['a of 1']);
  });

  it('of a parent that ends before its children are shown with its result', async () => {
    const children = [
      { kind: bare, payload: { does: '' } },
      { kind: maker, payload: { does: 'wait' }, owners: ['trip:7'] },
    ];
    const flow = { kind: maker, payload: { does: 'work' }, owners: ['trip:42'], children };
    const { id } = await context.get(Flows).add({ ...flow, onChildFailure: 'continue' });
    await until(
      async () => seen.length === 2 && (await queue().getJobState(id)) === 'waiting-children',
      'it ran',
    );
    await app.owners.cancel('trip:7', { wait: 'drained' });
    await untilState(id, 'completed');

    expect(await names(id)).toEqual(['a of 1']);
  });

  it('are refused with a reason when the kind has none', async () => {
    const id = await enqueue('', bare);
    await untilState(id, 'failed');

    expect((await queue().getJob(id))!.failedReason).toContain('nowhere to keep artifacts');
  });
});
