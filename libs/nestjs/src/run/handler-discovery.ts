import { Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kind } from '../kinds/kind.js';
import { HandlerRegistry } from './handler-registry.js';
import { Handler, HANDLES } from './handler.js';
import { KindProcessor } from './kind-processor.js';
import { Sandbox } from './sandbox.js';
import { KindWorkers } from './kind-workers.js';
import { WorkerFacts } from './worker-facts.js';

interface FoundHandler {
  readonly kind: string;
  readonly name: string;
  readonly handler: Handler;
  readonly isSingleton: boolean;
}

/** Finds one handler for each kind of the queues that are processed here. A start with problems is refused with all of them in one error. */
@Injectable()
export class HandlerDiscovery implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly kinds: KindRegistry,
    private readonly handlers: HandlerRegistry,
    private readonly workers: KindWorkers,
    private readonly facts: WorkerFacts,
  ) {}

  onApplicationBootstrap(): void {
    const queues = this.processedQueues();
    const wanted = this.kinds.all().filter(({ queue }) => queues.has(queue));
    const found = [
      ...this.findHandlers(),
      ...wanted.filter(({ sandbox }) => sandbox !== undefined).map(sandboxed),
    ];
    const problems = [
      ...found.filter(({ kind }) => !this.kinds.find(kind)).map(unknownKind),
      ...found.filter(({ isSingleton }) => !isSingleton).map(scoped),
      ...wanted.flatMap((kind) => notExactlyOne(kind, found)),
    ];
    if (problems.length > 0) throw new Error(`This worker cannot start:\n  ${problems.join('\n  ')}`);
    for (const { worker } of this.processors()) this.facts.follow(worker);
    this.handlers.complete(new Map(found.map(({ kind, handler }) => [kind, handler])));
  }

  private processedQueues(): ReadonlySet<string> {
    const workers = this.processors().map(({ worker }) => worker);
    return new Set([...workers.map(({ name }) => name), ...this.workers.queues()]);
  }

  private processors(): KindProcessor[] {
    const instances = this.discovery.getProviders().map(({ instance }) => instance as unknown);
    return instances.filter((each) => each instanceof KindProcessor);
  }

  private findHandlers(): FoundHandler[] {
    return this.discovery.getProviders().flatMap((wrapper) => {
      const type = wrapper.metatype as Type | null;
      const kind = type && this.reflector.get<Kind | undefined>(HANDLES, type);
      if (!kind) return [];
      if (!(type.prototype instanceof Handler))
        throw new TypeError(`${type.name} has @Handles but does not extend Handler.`);
      const handler = wrapper.instance as Handler;
      return [{ kind: kind.name, name: type.name, handler, isSingleton: wrapper.isDependencyTreeStatic() }];
    });
  }
}

function sandboxed(kind: Kind): FoundHandler {
  return { kind: kind.name, name: kind.sandbox!, handler: new Sandbox(kind), isSingleton: true };
}

/** Its queue would have no worker here, and its jobs would wait for ever. */
function unknownKind({ kind, name }: FoundHandler): string {
  return `${name} handles "${kind}", a kind that is not registered: import MooringModule.forKinds([…]) with it.`;
}

function scoped({ name }: FoundHandler): string {
  return `${name} is request-scoped, so no abort signal can reach it. Make it a singleton.`;
}

function notExactlyOne(kind: Kind, found: readonly FoundHandler[]): string[] {
  const names = found.filter((each) => each.kind === kind.name).map(({ name }) => name);
  if (names.length === 1) return [];
  return names.length === 0
    ? [`Kind "${kind.name}" has no handler: decorate one with @Handles(…) and provide it.`]
    : [`Kind "${kind.name}" has ${names.length} handlers: ${names.join(', ')}.`];
}
