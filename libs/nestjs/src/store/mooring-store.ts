import { createMooredBackend, type MooredBackend } from '#core/parts';
import { Inject, Injectable } from '@nestjs/common';
import type { QueueBaseOptions } from 'bullmq';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';

type Script = Parameters<MooredBackend['run']>[0];

export type Command = readonly (string | number)[];

/** The lock of the process that sweeps. Once another process has taken it, a write under this one is refused. */
export interface StoreLock {
  readonly key: string;
  readonly fence: string;
  readonly lockMs: number;
}

/** What this library keeps beside the queues, under their prefix. It connects when it is first used. */
@Injectable()
export class MooringStore {
  private opened: MooredBackend | undefined;

  constructor(@Inject(MOORING_OPTIONS) private readonly options: MooringOptions) {}

  get root(): string {
    return this.backend.root;
  }

  get backend(): MooredBackend {
    const { connection, prefix = 'bull' } = this.options;
    return (this.opened ??= createMooredBackend('mooring', { connection, prefix } as QueueBaseOptions));
  }

  get client(): MooredBackend['client'] {
    return this.backend.client;
  }

  /** The key of a record of sweeps: these are all under `<prefix>~sweeps`. */
  key(...parts: readonly string[]): string {
    return [`${this.root}~sweeps`, ...parts].join('~');
  }

  /** A command of the store, by its name in small letters. */
  async call<Answer>(command: string, ...args: readonly (string | number)[]): Promise<Answer> {
    return (await (await this.client).runCommand(command, [...args])) as Answer;
  }

  /** Runs a script of the core on a key; the prefix of the queues stands first among its arguments. */
  async run<Answer>(name: Script, key: string, args: readonly (string | number)[]): Promise<Answer> {
    return (await this.backend.run(name, [key, this.root, ...args])) as Answer;
  }

  /** The store's time, ms. */
  async now(): Promise<number> {
    return Number((await this.send([]))[0]);
  }

  /** Carries out commands in one step, and answers what each of them did. Rejects if another process has taken the lock. */
  async write(commands: readonly Command[], lock?: StoreLock): Promise<unknown[]> {
    const answers = await this.send(commands, lock);
    if (answers.length === 0) throw new LockLost();
    return answers.slice(1);
  }

  /** The fields of a hash that are there, read as JSON. */
  async readFields<T>(key: string, fields: readonly string[]): Promise<Map<string, T>> {
    if (fields.length === 0) return new Map();
    const texts = await (await this.client).hmget(key, ...fields);
    return new Map(fields.flatMap((field, i) => (texts[i] ? [[field, JSON.parse(texts[i]) as T]] : [])));
  }

  /** Undefined if another process has the lock. */
  async take(kind: string, lockMs: number): Promise<StoreLock | undefined> {
    const key = this.key('lock', kind);
    const [fence] = (await this.send([], { key, fence: 'take', lockMs })) as [string?];
    return fence === undefined ? undefined : { key, fence, lockMs };
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }

  private send(commands: readonly Command[], lock?: StoreLock): Promise<unknown[]> {
    const { key, fence, lockMs } = lock ?? { key: this.key('lock'), fence: '', lockMs: 0 };
    const texts = commands.map((command) => JSON.stringify(command));
    return this.run('sweepWrite', key, [fence, lockMs, ...texts]);
  }
}

/** Another process has taken the sweep over: nothing was written. */
export class LockLost extends Error {
  constructor() {
    super('Another process took it over.');
  }
}
