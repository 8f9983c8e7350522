import { Injectable, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kind } from '../kinds/kind.js';
import { HandlerRegistry } from './handler-registry.js';
import { RegisteredWorker } from '../queues/registered-worker.js';
import { Handler, HANDLES } from './handler.js';
import { KindProcessor } from './kind-processor.js';
import { SandboxedKind } from './sandboxed-kind.js';

interface FoundHandler {
  readonly kind: string;
  readonly name: string;
  readonly handler: Handler;
  readonly isSingleton: boolean;
}

/** Finds one handler for each kind that is taken here. A start with problems is refused with all of them in one error. */
@Injectable()
export class HandlerDiscovery {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly kinds: KindRegistry,
    private readonly registry: HandlerRegistry,
  ) {}

  /** `processed` are the queues with a processor here, also those of kinds that are not taken. */
  complete(taken: readonly Kind[], processed: ReadonlySet<string>): void {
    const found = [
      ...this.findHandlers(),
      ...taken.filter(({ sandbox }) => sandbox !== undefined).map(sandboxed),
    ];
    const problems = [
      ...this.findPlainProcessors(),
      ...found.filter(({ kind }) => !this.kinds.find(kind)).map(unknownKind),
      ...found.filter(({ isSingleton }) => !isSingleton).map(scoped),
      ...found.flatMap((each) => this.findUnprocessed(each, processed)),
      ...taken.flatMap((kind) => notExactlyOne(kind, found)),
    ];
    if (problems.length > 0) throw new Error(`This worker cannot start:\n  ${problems.join('\n  ')}`);
    this.registry.handlers = new Map(found.map(({ kind, handler }) => [kind, handler]));
  }

  /** Their workers know no owners. */
  private findPlainProcessors(): string[] {
    const instances = this.discovery.getProviders().map(({ instance }) => instance as unknown);
    return instances
      .filter((each) => each instanceof KindProcessor)
      .filter(({ worker }) => !(worker instanceof RegisteredWorker))
      .map(
        (each) =>
          `${each.constructor.name} has a plain worker: make import '@mooring/nestjs/register' the first line of main.ts.`,
      );
  }

  /** Its jobs would wait for ever. A process without any processor only enqueues. */
  private findUnprocessed({ kind, name }: FoundHandler, processed: ReadonlySet<string>): string[] {
    const queue = this.kinds.find(kind)?.queue;
    if (queue === undefined || processed.size === 0 || processed.has(queue)) return [];
    return [
      `${name} has no processor: provide a class with @Processor('${queue}') that extends KindProcessor.`,
    ];
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
  return { kind: kind.name, name: kind.sandbox!, handler: new SandboxedKind(kind), isSingleton: true };
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
