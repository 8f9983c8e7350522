import { Injectable } from '@nestjs/common';
import type { LuaScripts, ScriptArgs } from './lua-scripts.js';
import { WorkloadStore } from './workload-store.js';

/** A script's answer: an outcome and its values. */
export type Answer<Word extends string> = readonly [Word, ...string[]];

/**
 * What a workload keeps in the fleet's store. Every call has the store's time limit. A change is one command or one
 * script.
 */
@Injectable()
export abstract class WorkloadRepository {
  protected readonly scripts?: LuaScripts;

  constructor(private readonly store: WorkloadStore) {}

  /** The first part of every key. */
  get prefix(): string {
    return this.store.prefix;
  }

  /** The store's clock in ms, which all processes share. */
  now(): Promise<number> {
    return this.store.now();
  }

  protected call<T>(ask: (redis: WorkloadStore['redis']) => Promise<T>): Promise<T> {
    return this.store.call(ask);
  }

  protected runScript(name: string, keys: readonly string[], args?: ScriptArgs): Promise<unknown> {
    return this.call((redis) => this.scripts!.run(redis, name, keys, args));
  }

  /** Takes due items of a list and hides them from other processes for a while. */
  protected async takeDue(list: string, limit: number, hiddenMs: number): Promise<string[]> {
    return (await this.runScript('take', [list], [limit, hiddenMs])) as string[];
  }
}

/** A repository whose keys all begin with one root, which every script gets as its only key. */
export abstract class RootedRepository extends WorkloadRepository {
  abstract readonly root: string;

  protected async run<Word extends string>(
    name: string,
    ...args: (string | number)[]
  ): Promise<Answer<Word>> {
    return (await this.ask(name, ...args)) as Answer<Word>;
  }

  protected ask(name: string, ...args: (string | number)[]): Promise<unknown> {
    return this.runScript(name, [this.root], args);
  }
}
