import 'reflect-metadata';
import { Injectable, Module, Scope, type Provider } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { LifecycleOptions } from '../options.js';
import { OwnerResolver, ResolvesOwners, type Canaries, type OwnerLife } from './owner.resolver.js';
import { Resolvers } from './resolvers.js';

class Nobody extends OwnerResolver {
  async resolve(): Promise<ReadonlyMap<string, OwnerLife>> {
    return new Map();
  }
}

@ResolvesOwners('trip')
class Trips extends Nobody {}

@ResolvesOwners('ride')
class Rides extends Nobody {}

@ResolvesOwners('trip')
class OtherTrips extends Nobody {}

@ResolvesOwners('9 ships')
class Ships extends Nobody {}

@ResolvesOwners('car')
class Cars {}

@Injectable({ scope: Scope.REQUEST })
@ResolvesOwners('bus')
class Buses extends Nobody {}

class WithCanaries extends Nobody {
  constructor(override readonly canaries: Canaries) {
    super();
  }
}

describe('the resolvers', () => {
  it('are found by their decorator and in the options', async () => {
    const photos = new Nobody();
    const resolvers = await start([Trips, Rides], { photo: photos });
    expect(resolvers.types()).toEqual(['trip', 'ride', 'photo']);
    expect(resolvers.get('trip')).toBeInstanceOf(Trips);
    expect(resolvers.get('photo')).toBe(photos);
    expect(resolvers.get('constructor')).toBeUndefined();
  });

  it('may be none', async () => {
    expect((await start([])).types()).toEqual([]);
  });

  it.each<[string, Provider[], Record<string, unknown>, string]>([
    [
      'two for one type',
      [Trips, OtherTrips],
      {},
      'Owner type "trip" has 2 resolvers: Trips, OtherTrips. Leave one.',
    ],
    [
      'one in code and one in the options for one type',
      [Trips],
      { trip: new Nobody() },
      'Owner type "trip" has 2 resolvers: Trips, Nobody (given in the options). Leave one.',
    ],
    ['what resolves nothing', [Cars], {}, 'Cars does not extend OwnerResolver.'],
    [
      'what is none in the options',
      [],
      { car: {} },
      'Object (given in the options) does not extend OwnerResolver.',
    ],
    [
      'one of a request',
      [Buses],
      {},
      'Buses is request-scoped, and nobody requests it. Make it a singleton.',
    ],
    ['a type that no owner has', [Ships], {}, "Ships: An owner's type is a word"],
    [
      'canaries that are the same',
      [],
      { car: new WithCanaries({ alive: '1', gone: '1' }) },
      'WithCanaries (given in the options): its two canaries are the same.',
    ],
    [
      'canaries that are not two ids',
      [],
      { car: new WithCanaries({ alive: '1' } as Canaries) },
      'WithCanaries (given in the options): its canaries are two ids, alive and gone.',
    ],
  ])('refuse the start with %s', async (_, providers, given, problem) => {
    await expect(start(providers, given)).rejects.toThrow(problem);
  });
});

async function start(providers: Provider[], given: Record<string, unknown> = {}): Promise<Resolvers> {
  @Module({
    imports: [DiscoveryModule],
    providers: [
      Resolvers,
      { provide: LifecycleOptions, useValue: { resolvers: new Map(Object.entries(given)) } },
      ...providers,
    ],
  })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  await app.close();
  return app.get(Resolvers);
}
