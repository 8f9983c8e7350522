import { describe, expect, it } from 'vitest';
import { ConfiguredResolvers, type UnprovenFact } from './configured-resolvers.js';
import { HttpResolver } from './http/http-resolver.js';
import { SqlResolver } from './sql/sql-resolver.js';

const HTTP = { via: 'http', type: 'ride', url: 'https://owners.example/' } as const;
const SQL = {
  via: 'sql',
  url: 'postgres://db.test/x',
  query: 'select id from photos where id = any($1)',
} as const;
const CANARIES = { alive: 'a', gone: 'g' };

describe('the resolvers of the settings', () => {
  it('are one for each type in the settings', async () => {
    const resolvers = new ConfiguredResolvers(
      new Map<string, typeof HTTP | typeof SQL>([
        ['ride', HTTP],
        ['photo', SQL],
      ]),
      () => undefined,
    );
    expect(resolvers.byType.get('ride')).toBeInstanceOf(HttpResolver);
    expect(resolvers.byType.get('photo')).toBeInstanceOf(SqlResolver);
    await resolvers.onApplicationShutdown();
  });

  it('may be none', async () => {
    const resolvers = new ConfiguredResolvers(undefined, () => undefined);
    expect([...resolvers.byType]).toEqual([]);
    await resolvers.onApplicationShutdown();
  });

  it('without canaries are reported at the start', async () => {
    const told: UnprovenFact[] = [];
    const settings = new Map([
      ['ride', { ...HTTP, canaries: CANARIES }],
      ['trip', { ...HTTP, type: 'trip' }],
    ]);
    const resolvers = new ConfiguredResolvers(settings, (fact) => told.push(fact));
    resolvers.onApplicationBootstrap();
    expect(told).toEqual([
      { event: 'resolver.unproven', type: 'trip', why: expect.stringMatching(/no canaries/) as string },
    ]);
    await resolvers.onApplicationShutdown();
  });
});
