import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { owner } from '../kinds/owner.js';
import { LifecycleOptions } from '../options.js';
import { OwnerResolver, RESOLVES_OWNERS } from './owner.resolver.js';

interface Candidate {
  readonly type: string;
  readonly name: string;
  readonly resolver: OwnerResolver;
  readonly problem?: string | undefined;
}

/** Which resolver knows which owner type: found among the application's providers, or given in the options. */
@Injectable()
export class Resolvers implements OnModuleInit {
  private found: ReadonlyMap<string, OwnerResolver> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly options: LifecycleOptions,
  ) {}

  /** Refuses the start, naming everything that is wrong. */
  onModuleInit(): void {
    this.all();
  }

  types(): readonly string[] {
    return [...this.all().keys()];
  }

  get(type: string): OwnerResolver | undefined {
    return this.all().get(type);
  }

  private all(): ReadonlyMap<string, OwnerResolver> {
    this.found ??= this.find();
    return this.found;
  }

  private find(): ReadonlyMap<string, OwnerResolver> {
    const candidates = [...this.decorated(), ...this.given()];
    const problems = candidates.flatMap((one) => one.problem ?? problemsOf(one));
    for (const type of new Set(candidates.map((one) => one.type))) {
      const names = candidates.filter((one) => one.type === type).map(({ name }) => name);
      if (names.length > 1)
        problems.push(`Owner type "${type}" has ${names.length} resolvers: ${names.join(', ')}. Leave one.`);
    }
    if (problems.length > 0) throw new Error(`The resolvers cannot be used:\n  ${problems.join('\n  ')}`);
    return new Map(candidates.map(({ type, resolver }) => [type, resolver]));
  }

  private decorated(): Candidate[] {
    return this.discovery.getProviders().flatMap((wrapper) => {
      const metatype = wrapper.metatype as Type | null;
      const type = metatype && this.reflector.get<string | undefined>(RESOLVES_OWNERS, metatype);
      if (type === null || type === undefined) return [];
      const { name } = metatype!;
      const problem = wrapper.isDependencyTreeStatic()
        ? undefined
        : `${name} is request-scoped, and nobody requests it. Make it a singleton.`;
      return [{ type, name, resolver: wrapper.instance as OwnerResolver, problem }];
    });
  }

  private given(): Candidate[] {
    return [...(this.options.resolvers ?? [])].map(([type, resolver]) => {
      const name = `${(resolver as object | undefined)?.constructor.name} (given in the options)`;
      return { type, name, resolver };
    });
  }
}

function problemsOf({ type, name, resolver }: Candidate): string[] {
  if (!(resolver instanceof OwnerResolver)) return [`${name} does not extend OwnerResolver.`];
  const problems: string[] = [];
  try {
    owner(type, 'any');
  } catch (error) {
    problems.push(`${name}: ${(error as Error).message}`);
  }
  const { canaries } = resolver;
  if (canaries) {
    if (canaries.alive === canaries.gone) problems.push(`${name}: its two canaries are the same.`);
    if ([canaries.alive, canaries.gone].some((id) => typeof id !== 'string' || id === ''))
      problems.push(`${name}: its canaries are two ids, alive and gone.`);
  }
  return problems;
}
