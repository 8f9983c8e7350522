import { Injectable, type Type } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KeptArtifacts } from '../../../../test/support/kept-artifacts.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { defineKind } from '../kinds/kind.js';
import { formatOwner, owner } from '../kinds/owner.js';
import { JobReader } from '../read/job.reader.js';
import { Handler, Handles } from '../run/handler.js';
import type { Run } from '../run/run.js';
import { JobKeeper, Keeps, type FinishedJob } from './job.keeper.js';
import { Sweeper } from './sweeper.js';

const kept = defineKind({
  name: 'kept',
  queue: 'kept',
  payload: z.object({ fails: z.boolean().default(false) }).default({ fails: false }),
  keep: { count: 1 },
  keepWanted: true,
});

const asked: FinishedJob[][] = [];
let answer: (jobs: readonly FinishedJob[]) => Promise<ReadonlySet<string>>;

@Injectable()
@Keeps(kept)
class Keeper extends JobKeeper {
  wanted(jobs: readonly FinishedJob[]): Promise<ReadonlySet<string>> {
    asked.push([...jobs]);
    return answer(jobs);
  }
}

@Injectable()
@Keeps(kept)
class SecondKeeper extends Keeper {}

@Injectable()
@Keeps(defineKind({ name: 'stray', queue: 'kept', payload: z.object({}), keepWanted: true }))
class StrayKeeper extends Keeper {}

const unwanted = defineKind({ name: 'unwanted', queue: 'kept', payload: z.object({}) });

@Injectable()
@Keeps(unwanted)
class IdleKeeper extends Keeper {}

@Injectable()
@Handles(unwanted)
class UnwantedHandler extends Handler<typeof unwanted> {
  async handle(): Promise<void> {}
}

@Injectable()
@Keeps(kept)
class NoKeeper {}

@Injectable()
@Handles(kept)
class KeptHandler extends Handler<typeof kept> {
  async handle({ fails }: { fails: boolean }, run: Run): Promise<void> {
    await run.artifacts.put('a', 'x');
    if (fails) throw new Error('told to');
  }
}

describe('completed jobs of a kind with a keeper', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  let app: LifecycleApp;
  let artifacts: KeptArtifacts;

  beforeEach(async () => {
    asked.length = 0;
    answer = () => Promise.resolve(new Set());
    artifacts = await KeptArtifacts.open(prefix);
  });
  afterEach(async () => {
    await artifacts.clear();
    await app.stop();
    await artifacts.close();
  });

  async function start(keepers: readonly Type[] = [Keeper]): Promise<void> {
    const more = { artifacts: artifacts.store, sweeps: {} };
    app = await LifecycleApp.start(
      [kept, unwanted],
      [KeptHandler, UnwantedHandler, ...keepers],
      {},
      undefined,
      prefix,
      more,
    );
  }

  async function finish(count: number, fails = false): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const to = { owners: [owner('trip', '42')] };
      const { id } = await app.context.get(Enqueuer).enqueue(kept, { fails }, to);
      await until(async () => /completed|failed/.test((await stateOf(id)) ?? ''), `${id} has ended`);
      ids.push(id);
    }
    return ids;
  }

  async function stateOf(id: string): Promise<string | undefined> {
    return (await app.context.get(JobReader).read(id))?.state;
  }

  async function left(ids: readonly string[]): Promise<string[]> {
    await app.context.get(Sweeper).sweep('retention');
    const states = await Promise.all(ids.map(stateOf));
    return ids.filter((_, i) => states[i] !== 'removed');
  }

  it('stay when they are wanted, and go when they are over their measure and are not', async () => {
    await start();
    const ids = await finish(4);
    answer = () => Promise.resolve(new Set([ids[1]!]));
    expect(await left(ids)).toEqual([ids[1], ids[3]]);
    expect(await artifacts.jobs()).toEqual([ids[1]!, ids[3]!].toSorted());
    expect(asked[0]!.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 3).toSorted());
    expect(asked[0]!.flatMap(({ owners }) => owners.map(formatOwner))).toEqual(
      ids.slice(0, 3).map(() => 'trip:42'),
    );
    answer = () => Promise.resolve(new Set());
    expect(await left(ids)).toEqual([ids[3]]);
  });

  it('all stay while their keeper cannot say', async () => {
    await start();
    const ids = await finish(2);
    answer = () => Promise.reject(new Error('away'));
    expect(await left(ids)).toEqual(ids);
    expect(app.facts).toContainEqual(expect.objectContaining({ event: 'queue.error' }));
  });

  it('all stay where there is no keeper', async () => {
    await start([]);
    const ids = await finish(2);
    expect(await left(ids)).toEqual(ids);
    expect(app.facts).toContainEqual({
      event: 'sweep.trouble',
      sweep: 'retention',
      what: 'kept',
      why: 'Kind "kept" says keepWanted, and nobody here says what is wanted, so all of it is kept: provide a class with @Keeps(…).',
    });
  });

  it('go by their measure alone when they failed', async () => {
    await start();
    const ids = await finish(2, true);
    answer = (jobs) => Promise.resolve(new Set(jobs.map(({ id }) => id)));
    expect(await left(ids)).toEqual([ids[1]]);
  });

  it('have one keeper, or the start is refused', async () => {
    await start();
    await expect(start([Keeper, SecondKeeper])).rejects.toThrow('Kind "kept" has two keepers. Leave one.');
  });

  it('have one that can be asked, or the start is refused with all that is wrong', async () => {
    await start();
    await expect(start([NoKeeper, StrayKeeper, IdleKeeper])).rejects.toThrow(
      [
        'The keepers cannot be used:',
        'NoKeeper has @Keeps but does not extend JobKeeper.',
        'StrayKeeper keeps "stray", a kind that is not known here: import LifecycleModule.forKinds([…]) with it beside the keeper.',
        'IdleKeeper keeps "unwanted", whose kind does not say so: add keepWanted: true to it.',
      ].join('\n  '),
    );
  });
});
