import type { Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineKind } from '../kinds/kind.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import type { LifecycleOptions } from '../options.js';
import { RetentionMeasures } from './retention.measures.js';
import type { EndedPage } from './ended.jobs.js';
import type { Counting, Removing } from './retention.position.js';

const NOW = 1_900_000_000_000;
const payload = z.object({});
const few = defineKind({
  name: 'few',
  queue: 'q',
  payload,
  keep: { age: '10s', count: 2, failed: { age: '20s', count: 1 } },
});
const silent = defineKind({ name: 'silent', queue: 'q', payload });

const registry = new KindRegistry();
registry.add([few, silent]);
const measures = new RetentionMeasures(
  { retention: { ageMs: 5_000, count: 3 } } as LifecycleOptions,
  registry,
);

const job = (name: string, finishedOn: number | undefined, id = 'j'): Job =>
  ({ name, id, finishedOn, data: { v: 1, o: ['trip:1'], e: ['1'] } }) as unknown as Job;
const counting = (state: 'completed' | 'failed' = 'completed'): Counting => ({
  phase: 'count',
  queue: 'q',
  state,
  from: 0,
  counts: {},
  full: {},
});
const removing = (full: Removing['full'] = {}, state: Removing['state'] = 'completed'): Removing => ({
  phase: 'remove',
  queue: 'q',
  state,
  from: 0,
  full,
});

const pageOf = (...jobs: Job[]): EndedPage => ({ length: jobs.length, jobs });

describe('the measure of a finished job', () => {
  it('is what its kind says, of those that failed too; else what the fleet says', () => {
    expect(measures.of('few', 'completed')).toEqual({ ageMs: 10_000, count: 2 });
    expect(measures.of('few', 'failed')).toEqual({ ageMs: 20_000, count: 1 });
    expect(measures.of('silent', 'failed')).toEqual({ ageMs: 5_000, count: 3 });
  });

  it.each([
    ['few', 'completed', 9_999, false],
    ['few', 'completed', 10_000, true],
    ['few', 'failed', 19_999, false],
    ['few', 'failed', 20_000, true],
    ['silent', 'completed', 4_999, false],
    ['silent', 'completed', 5_000, true],
    ['few', 'completed', -60_000, false],
  ] as const)('%s that %s %i ms ago is over its age: %s', (kind, state, ago, isOver) => {
    expect(measures.why(job(kind, NOW - ago), removing({}, state), NOW) !== undefined).toBe(isOver);
  });

  it('is not known of a kind that is not known here: its jobs are kept', () => {
    expect(measures.of('newer', 'completed')).toBeUndefined();
    expect(measures.why(job('newer', 0), removing({ newer: [NOW, 'j'] }), NOW)).toBeUndefined();
    const { at } = measures.count(
      counting(),
      pageOf(...Array.from({ length: 9 }, () => job('newer', 0))),
      NOW,
    );
    expect(at.full).toEqual({});
  });

  it('counts from the end of the job, by which it has one', () => {
    expect(measures.why(job('few', undefined), removing(), NOW)).toBeUndefined();
  });

  it('is full with the last that is kept, and what is older goes; of one ms by their ids', () => {
    const jobs = [
      job('few', NOW, 'b'),
      job('few', NOW, 'a2'),
      job('few', NOW, 'a1'),
      job('few', NOW - 1, 'z'),
    ];
    const { at } = measures.count(counting(), pageOf(...jobs), NOW);
    expect(at.full).toEqual({ few: [NOW, 'a2'] });
    const goes = jobs.filter((each) => measures.why(each, removing(at.full), NOW) !== undefined);
    expect(goes.map(({ id }) => id)).toEqual(['a1', 'z']);
  });

  it('counts none that another program made', () => {
    const theirs = job('few', NOW);
    theirs.data = { url: 'x' };
    const jobs = [theirs, theirs, job('few', NOW - 1, 'a'), job('few', NOW - 2, 'b')];
    const { at } = measures.count(counting(), { length: 4, jobs }, NOW);
    expect([at.counts, at.full]).toEqual([{ few: 2 }, { few: [NOW - 2, 'b'] }]);
  });

  it('counts each kind by itself', () => {
    const jobs = ['few', 'silent', 'few', 'silent', 'silent', 'few'].map((name, i) =>
      job(name, NOW - i, `${i}`),
    );
    expect(measures.count(counting(), pageOf(...jobs), NOW).at.full).toEqual({
      few: [NOW - 2, '2'],
      silent: [NOW - 4, '4'],
    });
  });

  it('counts none twice that new ones have pushed to the next page', () => {
    const [newest, a, b] = [job('few', NOW + 5, 'n'), job('few', NOW, 'a'), job('few', NOW - 1, 'b')];
    const first = measures.count(counting(), pageOf(a), NOW);
    const second = measures.count(first.at, pageOf(a, b), NOW);
    expect([second.at.counts, second.at.full]).toEqual([{ few: 2 }, { few: [NOW - 1, 'b'] }]);
    expect(measures.why(newest, removing(second.at.full), NOW)).toBeUndefined();
  });

  it.each([
    [9_999, false],
    [10_000, true],
  ])('is known once all that is older than %i ms goes for its age: %s', (ago, isLast) => {
    expect(measures.count(counting(), pageOf(job('silent', NOW - ago)), NOW).isLast).toBe(isLast);
  });

  it.each([
    [3, false],
    [4, true],
  ])('is known once every kind is full, or over its age: of %i jobs, %s', (count, isLast) => {
    const jobs = ['few', 'silent', 'silent', 'few'].map((name, i) => job(name, NOW - 6_000 - i, `${i}`));
    expect(measures.count(counting(), pageOf(...jobs.slice(0, count)), NOW).isLast).toBe(isLast);
  });

  it('goes on behind a page of which nothing can be read', () => {
    const { at, isLast } = measures.count(counting(), { length: 7, jobs: [] }, NOW);
    expect([at.from, isLast]).toEqual([7, false]);
  });

  it('is known at the end', () => {
    expect(measures.count(counting(), pageOf(), NOW).isLast).toBe(true);
  });

  it.each([
    [5_000, {}, false],
    [4_999, {}, true],
    [0, { few: [NOW - 100, 'x'] }, true],
    [100, { few: [NOW - 100, 'x'] }, false],
    [100, { few: [NOW - 100, 'j'] }, true],
  ] as const)('reaches no further than a job of %i ms ago, counted %j: %s', (ago, full, isBeyond) => {
    expect(measures.isBeyond(job('few', NOW - ago), removing(full), NOW)).toBe(isBeyond);
  });
});
