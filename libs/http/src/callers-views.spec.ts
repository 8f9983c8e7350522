import 'reflect-metadata';
import '#nestjs/register';
import { owner, Owners, parseOwner } from '#core';
import { defineKind, Enqueuer, MooringModule, slotKeyOfCallers, type EnqueueOptions } from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CoreKit } from '../../../test/support/core-kit.js';
import { startNestApp } from '../../../test/support/nest-app.js';
import { OwnerHistory } from './owner-history.js';
import { SlotLimits } from './slot-limits.js';

const work = defineKind({
  name: 'audio.work',
  queue: 'audio',
  payload: z.object({}),
  owners: () => [owner('track', '1')],
});
const TRACK = parseOwner('track:1');

describe('what callers see', () => {
  let kit: CoreKit;
  let app: INestApplicationContext;

  beforeEach(async () => {
    kit = new CoreKit();
    app = await startNestApp({
      imports: [MooringModule.forRoot(kit.place), MooringModule.forKinds([work])],
      providers: [OwnerHistory, SlotLimits],
    });
  });

  afterEach(async () => {
    await app.close();
    await kit.stop();
  });

  const enqueue = async (options: EnqueueOptions = {}): Promise<string> =>
    (await app.get(Enqueuer).enqueue(work, {}, options)).id;

  it('says why a job of an owner was removed, in the words of its cancel', async () => {
    const id = await enqueue();
    await app.get(Owners).cancel(TRACK, { cancelId: 'c', reason: 'called off', by: 'ann' });

    expect(await app.get(OwnerHistory).read(TRACK)).toEqual({
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

  it('pages through the history of an owner', async () => {
    for (let i = 0; i < 120; i += 1) await enqueue();
    await app.get(Owners).cancel(TRACK);
    const first = await app.get(OwnerHistory).read(TRACK);
    const rest = await app.get(OwnerHistory).read(TRACK, first.cursor!);
    expect([first.entries.length, rest.entries.length, rest.cursor]).toEqual([100, 20, null]);
  });

  it('are the slot keys of callers, whose limits can be set', async () => {
    const slots = app.get(SlotLimits);
    expect(await slots.read('press/1')).toEqual({
      key: 'press/1',
      limit: null,
      holding: 0,
      waiting: 0,
      holders: [],
      waiters: [],
    });
    await enqueue({ slot: { key: slotKeyOfCallers('press/1'), limit: 2 } });
    expect(await slots.set('press/1', 3)).toBe(2);
    expect(await slots.read('press/1')).toMatchObject({ limit: 3 });
    await app.get(Owners).cancel(TRACK);
  });
});
