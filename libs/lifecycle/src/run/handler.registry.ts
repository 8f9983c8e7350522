import { Injectable, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { existsSync } from 'node:fs';
import { KindRegistry } from '../kinds/kind.registry.js';
import type { Kind } from '../kinds/kind.js';
import { Handler, HANDLES } from './handler.js';
import { Sandbox } from './sandbox.js';

/** Which handler does which kind: found among the application's providers, or a sandbox. */
@Injectable()
export class HandlerRegistry {
  private readonly handlers = new Map<string, Handler>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly known: KindRegistry,
  ) {}

  /** Finds one handler for each of the kinds; refuses the start, naming every kind that has none or several, and every handler of an unknown one. */
  find(kinds: readonly Kind[]): void {
    const found = this.discover();
    const problems = found
      .filter(({ kind }) => !this.known.has(kind))
      .map(({ kind, name }) => unknownProblem(kind, name));
    for (const kind of kinds) {
      const candidates = found.filter((candidate) => candidate.kind === kind.name);
      const [only, another] = candidates;
      if (kind.sandbox !== undefined) {
        const problem = sandboxProblem(kind.name, kind.sandbox, only?.name);
        if (problem) problems.push(problem);
        else this.handlers.set(kind.name, new Sandbox(kind.sandbox));
      } else if (!only) {
        problems.push(`Kind "${kind.name}" has no handler: decorate one with @Handles(…) and provide it.`);
      } else if (another) {
        problems.push(
          `Kind "${kind.name}" has ${candidates.length} handlers: ${candidates.map((c) => c.name).join(', ')}.`,
        );
      } else if (!only.isSingleton) {
        problems.push(
          `${only.name} is request-scoped, so no abort signal can reach it. Make it a singleton.`,
        );
      } else {
        this.handlers.set(kind.name, only.handler);
      }
    }
    if (problems.length > 0) {
      throw new Error(`This worker cannot start:\n  ${problems.join('\n  ')}`);
    }
  }

  get(kind: string): Handler | undefined {
    return this.handlers.get(kind);
  }

  private discover(): { kind: string; name: string; handler: Handler; isSingleton: boolean }[] {
    return this.discovery.getProviders().flatMap((wrapper) => {
      const type = wrapper.metatype as Type | null;
      const kind = type && this.reflector.get<Kind | undefined>(HANDLES, type);
      if (!kind) return [];
      if (!(type.prototype instanceof Handler)) {
        throw new TypeError(`${type.name} has @Handles but does not extend Handler.`);
      }
      return [
        {
          kind: kind.name,
          name: type.name,
          handler: wrapper.instance as Handler,
          isSingleton: wrapper.isDependencyTreeStatic(),
        },
      ];
    });
  }
}

/** Its queue would not be taken, and its jobs wait for ever. */
function unknownProblem(kind: string, handler: string): string {
  return `${handler} handles "${kind}", a kind that this worker does not know: import LifecycleModule.forKinds([…]) with it beside the handler.`;
}

function sandboxProblem(kind: string, file: string, handler: string | undefined): string | undefined {
  if (handler) {
    return `Kind "${kind}" runs in a sandbox and has the handler ${handler} as well. Leave one of them out.`;
  }
  if (!existsSync(file)) return `Kind "${kind}" runs in a sandbox whose file is not there: ${file}.`;
  return undefined;
}
