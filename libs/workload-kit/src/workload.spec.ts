import 'reflect-metadata';
import { defineKind } from '#nestjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineWorkload } from './define-workload.js';
import type { Workload } from './workload.js';

class Repository {}
class Service {}
class Controller {}
class Demo {}
class Handler {}

const kind = defineKind({ name: 'photos.thumbnail', queue: 'photos', payload: z.strictObject({}) });
const WIDTH = z.coerce.number().default(64);

const photos = defineWorkload({
  name: 'photo-books',
  kinds: [kind],
  offers: 'Whether photos are offered.',
  variables: { all: { WIDTH }, api: { TITLES: z.string().optional() } },
  maxWaitingIn: ({ WIDTH: width }) => ({ photos: width }),
  providers: [Repository],
  api: () => Promise.resolve({ controllers: [Controller], demos: [Demo], providers: [Service] }),
  worker: () => ({ providers: [Handler] }),
});

describe('a workload', () => {
  it('has the variables of all processes and those of one, and a switch', () => {
    expect(Object.keys(photos.variablesOf('api'))).toEqual(['PHOTO_BOOKS', 'WIDTH', 'TITLES']);
    expect(Object.keys(photos.variablesOf('worker'))).toEqual(['PHOTO_BOOKS', 'WIDTH']);
    expect(z.object(photos.variablesOf('worker')).parse({})).toEqual({ PHOTO_BOOKS: 'on', WIDTH: 64 });
  });

  it('is off if its variable says so', () => {
    expect(photos.isOn({ PHOTO_BOOKS: 'on' }, false)).toBe(true);
    expect(photos.isOn({ PHOTO_BOOKS: 'off' })).toBe(false);
  });

  it('is always on without a switch', () => {
    const always = defineWorkload({ name: 'always', kinds: [kind] });
    expect(always.variablesOf('api')).toEqual({});
    expect(always.isOn({ ALWAYS: 'off' }, false)).toBe(true);
  });

  it('for trials is off by default in an api with keys, and on in other processes', () => {
    const trial = defineWorkload({ name: 'trial', kinds: [kind], offers: 'To try.', isForTrial: true });
    const defaults = (process: 'api' | 'worker'): object => z.object(trial.variablesOf(process)).parse({});
    expect([true, false].map((isTrial) => trial.isOn(defaults('api'), isTrial))).toEqual([true, false]);
    expect(trial.isOn(defaults('worker'), false)).toBe(true);
  });

  it('gives each process its parts', async () => {
    expect(await partsOf(photos, 'api')).toEqual([[Controller], [Repository, Service]]);
    expect(await partsOf(photos, 'api', true)).toEqual([
      [Controller, Demo],
      [Repository, Service],
    ]);
    expect(await partsOf(photos, 'worker')).toEqual([[], [Repository, Handler]]);
    expect(await partsOf(photos, 'janitor')).toEqual([[], [Repository]]);
  });

  it('limits its queues by its settings', () => {
    expect(photos.maxWaitingIn({ WIDTH: 3 })).toEqual({ photos: 3 });
  });
});

async function partsOf(
  workload: Workload,
  process: 'api' | 'worker' | 'janitor',
  hasDemos?: boolean,
): Promise<unknown[]> {
  const { controllers, providers } = await workload.moduleFor(process, {}, hasDemos);
  return [controllers, providers];
}
