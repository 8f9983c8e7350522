import { describe, expect, it } from 'vitest';
import { Journal, type Fact } from '../journal.js';
import type { LifecycleOptions } from '../options.js';
import { OwnerLives, type Lives } from './owner.lives.js';
import { OwnerResolver, type Canaries } from './owner.resolver.js';
import type { Resolvers } from './resolvers.js';

type Resolve = (ids: string[], signal: AbortSignal) => unknown;

const CANARIES = { alive: 'canary-a', gone: 'canary-g' };

describe('the lives of owners', () => {
  it('are what the resolver says', async () => {
    const { ask } = lives(() => new Map(Object.entries({ a: 'alive', b: 'gone', c: 'unknown' })));
    expect(await ask(['a', 'b', 'c'])).toEqual({ a: 'alive', b: 'gone', c: 'unknown' });
  });

  it('are not gone where it leaves one out; whom it calls alive lives', async () => {
    const { ask, failed, facts } = lives(() => new Map(Object.entries({ a: 'alive', b: 'gone', c: 'gone' })));
    expect(await ask(['a', 'b', 'c', 'd'])).toEqual({
      a: 'alive',
      b: 'unknown',
      c: 'unknown',
      d: 'unknown',
    });
    const why = 'The resolver answered for 3 of 4 owners.';
    expect(failed()).toBe(why);
    expect(facts).toEqual([{ event: 'resolver.failed', type: 'trip', asked: 4, why }]);
  });

  const gone = (ids: string[]): Map<string, string> => new Map(ids.map((id) => [id, 'gone']));
  it.each<[string, Resolve, RegExp]>([
    ['throws', () => fail(), /^The database is away\.$/],
    ['rejects', () => Promise.reject(new Error('The database is away.')), /^The database is away\.$/],
    ['rejects without a word', () => Promise.reject(new Error('')), /^Error$/],
    ['never answers', () => new Promise(() => undefined), /did not answer within 20 ms/],
    ['answers nothing', () => undefined, /did not answer with a Map/],
    ['answers with an object', (ids) => Object.fromEntries(gone(ids)), /did not answer with a Map/],
    ['answers with pairs', (ids) => [...gone(ids)], /did not answer with a Map/],
    ['answers with an empty map', () => new Map(), /answered for 0 of 4 owners/],
    ['answers for all but one', () => gone(['a', 'b', 'c']), /answered for 3 of 4 owners/],
    ['speaks of another owner', (ids) => gone([...ids, 'z']), /spoke of "z", which was not asked/],
    ['speaks of numbers', () => new Map([[1, 'gone']]), /spoke of 1, which was not asked/],
    ['uses another word', (ids) => gone(ids).set('b', 'Gone'), /said "Gone" of "b"/],
    ['uses no word', (ids) => new Map(ids.map((id) => [id, undefined])), /said undefined of "a"/],
  ])('are unknown, all of them, where it %s', async (_, resolve, why) => {
    const { ask, failed, facts } = lives(resolve);
    expect(await ask(['a', 'b', 'c', 'd'])).toEqual({
      a: 'unknown',
      b: 'unknown',
      c: 'unknown',
      d: 'unknown',
    });
    expect(failed()).toMatch(why);
    expect(facts).toEqual([
      { event: 'resolver.failed', type: 'trip', asked: 4, why: expect.any(String) as string },
    ]);
  });

  it('are asked for once each, with the canaries, which are no part of the answer', async () => {
    const asked: string[][] = [];
    const { ask } = lives((ids) => {
      asked.push(ids);
      return gone(ids).set('canary-a', 'alive');
    }, CANARIES);
    expect(await ask(['a', 'a', 'b'])).toEqual({ a: 'gone', b: 'gone' });
    expect(asked).toEqual([['a', 'b', 'canary-a', 'canary-g']]);
  });

  it('are known of a canary too that somebody asks for', async () => {
    const { ask } = lives((ids) => gone(ids).set('canary-a', 'alive'), CANARIES);
    expect(await ask(['canary-g'])).toEqual({ 'canary-g': 'gone' });
  });

  it('are not taken from canaries when it is counted of whom it speaks', async () => {
    const { ask, failed } = lives(
      () => gone(['canary-g']).set('canary-a', 'alive').set('a', 'gone'),
      CANARIES,
    );
    expect(await ask(['a', 'b', 'c'])).toEqual({ a: 'unknown', b: 'unknown', c: 'unknown' });
    expect(failed()).toMatch(/1 of 3/);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'calls everybody gone',
      { a: 'gone', 'canary-a': 'gone', 'canary-g': 'gone' },
      /"canary-a" is alive, and it said "gone"/,
    ],
    [
      'calls everybody alive',
      { a: 'alive', 'canary-a': 'alive', 'canary-g': 'alive' },
      /"canary-g" is gone, and it said "alive"/,
    ],
    [
      'does not know its canaries',
      { a: 'gone', 'canary-a': 'unknown', 'canary-g': 'gone' },
      /it said "unknown"/,
    ],
    ['leaves its canaries out', { a: 'gone' }, /it said undefined/],
  ])('are unknown where it %s', async (_, answer, why) => {
    const { ask, failed } = lives(() => new Map(Object.entries(answer)), CANARIES);
    expect(await ask(['a'])).toEqual({ a: 'unknown' });
    expect(failed()).toMatch(why);
  });

  it('are unknown of a type that nobody resolves, and of too many at once', async () => {
    const { owners } = lives(() => fail());
    expect(await owners.ask('ship', ['1'])).toEqual({
      lives: new Map([['1', 'unknown']]),
      failed: 'Nobody resolves owners of type "ship".',
    });
    const many = Array.from({ length: 501 }, (_, i) => String(i));
    const answer = await owners.ask('trip', many);
    expect([answer.lives.size, answer.failed]).toEqual([501, expect.stringMatching(/at most 500/)]);
  });

  it('of nobody are not asked for', async () => {
    const { ask, facts } = lives(() => fail());
    expect(await ask([])).toEqual({});
    expect(facts).toEqual([]);
  });

  it('that are not said in time are not waited for, and the resolver is told', async () => {
    let told: AbortSignal | undefined;
    const { ask } = lives((_ids, signal) => {
      told = signal;
      return new Promise(() => undefined);
    });
    await ask(['a']);
    expect(told?.aborted).toBe(true);
  });
});

function fail(): never {
  throw new Error('The database is away.');
}

function lives(resolve: Resolve, canaries?: Canaries) {
  const facts: Fact[] = [];
  class Trips extends OwnerResolver {
    override readonly timeoutMs = 20;
    override readonly canaries = canaries!;
    async resolve(ids: string[], signal: AbortSignal): Promise<never> {
      return (await resolve(ids, signal)) as never;
    }
  }
  const resolvers = { get: (type: string) => (type === 'trip' ? new Trips() : undefined) } as Resolvers;
  const journal = new Journal({
    listeners: [(fact) => facts.push(fact)],
  } as Partial<LifecycleOptions> as LifecycleOptions);
  const owners = new OwnerLives(resolvers, journal);
  let last: Lives | undefined;
  const ask = async (ids: string[]): Promise<Record<string, string>> => {
    last = await owners.ask('trip', ids);
    return Object.fromEntries(last.lives);
  };
  return { owners, ask, facts, failed: () => last?.failed };
}
