import '../register.js';
import { Injectable, Scope, type Provider } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit } from '../../../../test/support/core-kit.js';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { MooringModule } from '../index.js';
import { OwnerResolver, ResolvesOwners, type Canaries, type OwnerLife } from './owner-resolver.js';
import { Resolvers } from './resolvers.js';

class AnyResolver extends OwnerResolver {
  async resolve(): Promise<ReadonlyMap<string, OwnerLife>> {
    return new Map();
  }
}

@ResolvesOwners('trip')
class Trips extends AnyResolver {}

@ResolvesOwners('trip')
class OtherTrips extends AnyResolver {}

@ResolvesOwners('9 ships')
class Ships extends AnyResolver {}

@ResolvesOwners('car')
class Cars {}

@Injectable({ scope: Scope.REQUEST })
@ResolvesOwners('bus')
class Buses extends AnyResolver {}

class WithCanaries extends AnyResolver {
  constructor(override readonly canaries: Canaries) {
    super();
  }
}

describe('the resolvers', () => {
  let kit: CoreKit;
  beforeEach(() => void (kit = new CoreKit()));
  afterEach(() => kit.stop());

  async function start(providers: Provider[], given: Record<string, unknown> = {}): Promise<Resolvers> {
    const resolvers = new Map(Object.entries(given)) as Map<string, OwnerResolver>;
    const imports = [MooringModule.forRoot({ ...kit.place, resolvers })];
    const app = await startNestApp({ imports, providers });
    const found = app.get(Resolvers);
    await app.close();
    return found;
  }

  it('are found by their decorator and in the options', async () => {
    const photos = new AnyResolver();
    const resolvers = await start([Trips], { photo: photos });
    expect(resolvers.types()).toEqual(['trip', 'photo']);
    expect(resolvers.get('trip')).toBeInstanceOf(Trips);
    expect(resolvers.get('photo')).toBe(photos);
  });

  it.each<[string, Provider[], Record<string, unknown>, string]>([
    [
      'two for a type',
      [Trips, OtherTrips],
      {},
      'Owner type "trip" has 2 resolvers: Trips, OtherTrips. Keep one.',
    ],
    ['a class that resolves nothing', [Cars], {}, 'Cars does not extend OwnerResolver.'],
    [
      'an object in the options',
      [],
      { car: {} },
      'Object (given in the options) does not extend OwnerResolver.',
    ],
    [
      'a request-scoped one',
      [Buses],
      {},
      'Buses is request-scoped, but sweeps have no request. Make it a singleton.',
    ],
    ['a type that no owner has', [Ships], {}, 'Ships: The type of an owner is a word'],
    [
      'equal canaries',
      [],
      { car: new WithCanaries({ alive: '1', gone: '1' }) },
      'its two canaries are the same.',
    ],
  ])('prevent the start with %s', async (_, providers, given, problem) => {
    await expect(start(providers, given)).rejects.toThrow(problem);
  });
});
