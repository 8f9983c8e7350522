import { owner } from '#core';
import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { MooringSetupError } from '../setup-error.js';
import { OwnerResolver, RESOLVES_OWNERS } from './owner-resolver.js';

interface Candidate {
  readonly type: string;
  readonly name: string;
  readonly resolver: OwnerResolver;
  readonly isScoped?: boolean;
}

/** The resolvers of this process, by owner type: providers with `@ResolvesOwners`, and those of the options. */
@Injectable()
export class Resolvers implements OnModuleInit {
  private resolvers: ReadonlyMap<string, OwnerResolver> = new Map();

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
  ) {}

  /** @throws MooringSetupError with all problems */
  onModuleInit(): void {
    const candidates = [...this.decorated(), ...this.given()];
    const problems = candidates.flatMap(problemsOf);
    for (const type of new Set(candidates.map((each) => each.type))) {
      const names = candidates.filter((each) => each.type === type).map(({ name }) => name);
      if (names.length > 1)
        problems.push(`Owner type "${type}" has ${names.length} resolvers: ${names.join(', ')}. Keep one.`);
    }
    if (problems.length > 0)
      throw new MooringSetupError(`The resolvers cannot be used:\n  ${problems.join('\n  ')}`);
    this.resolvers = new Map(candidates.map(({ type, resolver }) => [type, resolver]));
  }

  types(): readonly string[] {
    return [...this.resolvers.keys()];
  }

  get(type: string): OwnerResolver | undefined {
    return this.resolvers.get(type);
  }

  private decorated(): Candidate[] {
    return this.discovery.getProviders().flatMap((wrapper) => {
      const metatype = wrapper.metatype as Type | null;
      const type = metatype && this.reflector.get<string | undefined>(RESOLVES_OWNERS, metatype);
      if (type === null || type === undefined) return [];
      const { name } = metatype!;
      const isScoped = !wrapper.isDependencyTreeStatic();
      return [{ type, name, resolver: wrapper.instance as OwnerResolver, isScoped }];
    });
  }

  private given(): Candidate[] {
    return [...(this.options.resolvers ?? [])].map(([type, resolver]) => {
      const name = `${(resolver as object | undefined)?.constructor.name} (given in the options)`;
      return { type, name, resolver };
    });
  }
}

function problemsOf({ type, name, resolver, isScoped }: Candidate): string[] {
  if (isScoped) return [`${name} is request-scoped, but sweeps have no request. Make it a singleton.`];
  if (!(resolver instanceof OwnerResolver)) return [`${name} does not extend OwnerResolver.`];
  const problems: string[] = [];
  try {
    owner(type, 'any');
  } catch (error) {
    problems.push(`${name}: ${(error as Error).message}`);
  }
  const { alive = 'alive', gone = 'gone' } = resolver.canaries ?? {};
  if (alive === gone) problems.push(`${name}: its two canaries are the same.`);
  if ([alive, gone].some((id) => typeof id !== 'string' || id === ''))
    problems.push(`${name}: its canaries are two ids, alive and gone.`);
  return problems;
}
