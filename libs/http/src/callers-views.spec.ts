import 'reflect-metadata';
import '#nestjs/register';
import { owner, Owners, parseOwner } from '#core';
import { defineKind, Enqueuer, MooringModule, slotKeyOfCallers, type EnqueueOptions } from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CoreKit } from '../../../test/support/core-kit.js';
import { startNestApp } from '../../../test/support/nest-app.js';
import { MooringHttpModule } from './http.module.js';
import { OwnersController } from './owners.controller.js';
import { SlotsController } from './slots.controller.js';

const work = defineKind({
  name: 'audio.work',
  queue: 'audio',
  payload: z.object({}),
  owners: () => [owner('track', '1')],
});
const TRACK = parseOwner('track:1');

describe('the views of callers', () => {
  let kit: CoreKit;
  let app: INestApplicationContext;
  let facts: object[];

  beforeEach(async () => {
    kit = new CoreKit();
    facts = [];
    const root = { ...kit.place, listeners: [(fact: object) => void facts.push(fact)] };
    app = await startNestApp({
      imports: [
        MooringModule.forRoot(root),
        MooringModule.forKinds([work]),
        MooringHttpModule.register({ guard: false }),
      ],
    });
  });

  afterEach(async () => {
    await app.close();
    await kit.stop();
  });

  const enqueue = async (options: EnqueueOptions = {}): Promise<string> =>
    (await app.get(Enqueuer).enqueue(work, {}, options)).id;

  it('show why a job of an owner was removed, with the reason of its cancel', async () => {
    const id = await enqueue();
    await app.get(Owners).cancel(TRACK, { cancelId: 'c', reason: 'called off', by: 'ann' });

    expect(await app.get(OwnersController).history('track', '1')).toEqual({
      owner: 'track:1',
      entries: [
        {
          id,
          queue: 'audio',
          kind: 'audio.work',
          owners: ['track:1'],
          state: 'waiting',
          at: expect.any(String),
          why: 'cancelled',
          reason: 'called off',
          by: 'ann',
          cancelId: 'c',
        },
      ],
      cursor: null,
    });
  });

  it('page through the history of an owner', async () => {
    for (let i = 0; i < 120; i += 1) await enqueue();
    await app.get(Owners).cancel(TRACK);
    const owners = app.get(OwnersController);
    const first = await owners.history('track', '1');
    const rest = await owners.history('track', '1', first.cursor!);
    expect([first.entries.length, rest.entries.length, rest.cursor]).toEqual([100, 20, null]);
  });

  it('contain the slot keys of callers, whose limits can be set', async () => {
    const slots = app.get(SlotsController);
    expect(await slots.read('press/1')).toEqual({
      key: 'press/1',
      limit: null,
      holding: 0,
      waiting: 0,
      holders: [],
      waiters: [],
    });
    await enqueue({ slot: { key: slotKeyOfCallers('press/1'), limit: 2 } });
    expect(await slots.set('press/1', { limit: 3 }, 'ann')).toMatchObject({ limit: 3 });
    expect(facts).toContainEqual({ event: 'slot.limit-set', by: 'ann', key: 'press/1', limit: 3, was: 2 });
    expect(await slots.read('press/1')).toMatchObject({ limit: 3 });
    await app.get(Owners).cancel(TRACK);
  });
});
