import { describe, expect, it } from 'vitest';
import type { Fact } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import { OwnerCheck } from './owner-check.js';
import { OwnerLives } from './owner-lives.js';
import { OwnerResolver, type Canaries, type OwnerLife } from './owner-resolver.js';
import type { Lives } from './resolver-answer.js';
import type { Resolvers } from './resolvers.js';

type Resolve = (ids: string[], signal: AbortSignal) => unknown;

const CANARIES = { alive: 'canary-a', gone: 'canary-g' };
const FOUR = ['a', 'b', 'c', 'd'];

function livesOf(resolve: Resolve, canaries?: Canaries, facts: Fact[] = []): OwnerLives {
  class Trips extends OwnerResolver {
    override readonly timeoutMs = 20;
    override readonly canaries = canaries;
    async resolve(ids: string[], signal: AbortSignal): Promise<ReadonlyMap<string, OwnerLife>> {
      return (await resolve(ids, signal)) as ReadonlyMap<string, OwnerLife>;
    }
  }
  const trips = new Trips();
  const resolvers = { types: () => ['trip'], get: (type: string) => (type === 'trip' ? trips : undefined) };
  const journal = new Journal({ connection: {}, listeners: [(fact) => facts.push(fact)] });
  return new OwnerLives(resolvers as unknown as Resolvers, journal);
}

const answering =
  (answer: Record<string, string>): Resolve =>
  () =>
    new Map(Object.entries(answer));
const allGone = (ids: string[]): Map<string, string> => new Map(ids.map((id) => [id, 'gone']));
const read = ({ lives }: Lives): Record<string, string> => Object.fromEntries(lives);

describe('the lives of owners', () => {
  it('are those that the resolver returns', async () => {
    const answer = { a: 'alive', b: 'gone', c: 'unknown' };
    expect(read(await livesOf(answering(answer)).ask('trip', ['a', 'b', 'c']))).toEqual(answer);
  });

  it('are never gone in an answer that omits one', async () => {
    const answer = await livesOf(answering({ a: 'alive', b: 'gone', c: 'gone' })).ask('trip', FOUR);
    expect(read(answer)).toEqual({ a: 'alive', b: 'unknown', c: 'unknown', d: 'unknown' });
    expect(answer.failed).toBe('The resolver answered for 3 of 4 owners.');
  });

  it.each<[string, Resolve, RegExp]>([
    ['rejects', () => Promise.reject(new Error('The database is away.')), /^The database is away\.$/],
    ['rejects without a word', () => Promise.reject(new Error('')), /^Error$/],
    ['never answers', () => new Promise(() => undefined), /did not answer within 20 ms/],
    ['answers nothing', () => undefined, /did not answer with a Map/],
    ['answers with pairs', (ids) => [...allGone(ids)], /did not answer with a Map/],
    ['answers for all but one', () => allGone(['a', 'b', 'c']), /answered for 3 of 4 owners/],
    ['answers for another owner', (ids) => allGone([...ids, 'z']), /answered for "z", which was not asked/],
    ['answers for numbers', () => new Map([[1, 'gone']]), /answered for 1, which was not asked/],
    ['uses another word', (ids) => allGone(ids).set('b', 'Gone'), /said "Gone" of "b"/],
  ])('are all unknown if it %s', async (_, resolve, why) => {
    const facts: Fact[] = [];
    const answer = await livesOf(resolve, undefined, facts).ask('trip', FOUR);
    expect(read(answer)).toEqual({ a: 'unknown', b: 'unknown', c: 'unknown', d: 'unknown' });
    expect(answer.failed).toMatch(why);
    expect(facts).toMatchObject([{ event: 'trouble', resolver: 'trip', why: answer.failed }]);
  });

  it('are requested once each, with the canaries, which are not part of the answer', async () => {
    const asked: string[][] = [];
    const lives = livesOf((ids) => {
      asked.push(ids);
      return allGone(ids).set('canary-a', 'alive');
    }, CANARIES);
    expect(read(await lives.ask('trip', ['a', 'a', 'b']))).toEqual({ a: 'gone', b: 'gone' });
    expect(asked).toEqual([['a', 'b', 'canary-a', 'canary-g']]);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'calls all gone',
      { a: 'gone', 'canary-a': 'gone', 'canary-g': 'gone' },
      /"canary-a" is alive, and it said "gone"/,
    ],
    [
      'calls all alive',
      { a: 'alive', 'canary-a': 'alive', 'canary-g': 'alive' },
      /"canary-g" is gone, and it said "alive"/,
    ],
    ['leaves its canaries out', { a: 'gone' }, /it said undefined/],
  ])('are unknown if it %s', async (_, answer, why) => {
    const found = await livesOf(answering(answer), CANARIES).ask('trip', ['a']);
    expect(read(found)).toEqual({ a: 'unknown' });
    expect(found.failed).toMatch(why);
  });

  it('are unknown for a type without a resolver and for too many at once', async () => {
    const lives = livesOf(allGone);
    expect((await lives.ask('ship', ['1'])).failed).toBe(
      'No resolver is registered for owners of type "ship".',
    );
    const many = await lives.ask(
      'trip',
      Array.from({ length: 501 }, (_, i) => String(i)),
    );
    expect([many.lives.size, many.failed]).toEqual([501, expect.stringMatching(/at most 500/)]);
  });

  it('are not awaited when they are late, and the resolver is told', async () => {
    let signal: AbortSignal | undefined;
    await livesOf((_, given) => {
      signal = given;
      return new Promise(() => undefined);
    }).ask('trip', ['a']);
    expect(signal?.aborted).toBe(true);
  });

  it('are requested together for jobs that start together', async () => {
    const asked: string[][] = [];
    const check = new OwnerCheck(
      livesOf((ids) => {
        asked.push(ids);
        return new Map(ids.map((id) => [id, id === '1' ? 'gone' : id === '2' ? 'unknown' : 'alive']));
      }),
    );
    const lives = [['trip:1', 'trip:2'], ['trip:2', 'trip:3'], ['trip:3'], ['ship:1']].map((owners) =>
      check.ask(owners),
    );
    expect(await Promise.all(lives)).toEqual(['gone', 'unknown', 'alive', 'alive']);
    expect(asked).toEqual([['1', '2', '3']]);
  });
});
