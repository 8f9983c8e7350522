import type { MooredBackend } from '#core/parts';
import { Injectable } from '@nestjs/common';
import { MooringStore } from '../store/mooring-store.js';
import type { SweepLock } from './sweep.js';

type Script = Parameters<MooredBackend['run']>[0];

/** A command of the store with its arguments. */
export type Command = readonly (string | number)[];

/** The store as sweeps see it. Their own records are all under `<prefix>~sweeps`. */
@Injectable()
export class SweepStore {
  constructor(private readonly store: MooringStore) {}

  get root(): string {
    return this.store.root;
  }

  get client(): MooredBackend['client'] {
    return this.store.backend.client;
  }

  key(...parts: readonly string[]): string {
    return [`${this.root}~sweeps`, ...parts].join('~');
  }

  /** Runs a script of the core on a key; the prefix of the queues stands first among its arguments. */
  async run<Answer>(name: Script, key: string, args: readonly (string | number)[]): Promise<Answer> {
    return (await this.store.backend.run(name, [key, this.root, ...args])) as Answer;
  }

  /** The store's time, ms. */
  async now(): Promise<number> {
    return Number((await this.send([]))[0]);
  }

  /** Carries out commands in one step, and answers what each of them did. Rejects if another process has taken the lock. */
  async write(commands: readonly Command[], lock?: SweepLock): Promise<unknown[]> {
    const answers = await this.send(commands, lock);
    if (answers.length === 0) throw new SweepOvertaken();
    return answers.slice(1);
  }

  /** Undefined if another process has the lock. */
  async take(kind: string, lockMs: number): Promise<SweepLock | undefined> {
    const key = this.key('lock', kind);
    const [fence] = (await this.send([], { key, fence: 'take', lockMs })) as [string?];
    return fence === undefined ? undefined : { key, fence, lockMs };
  }

  private send(commands: readonly Command[], lock?: SweepLock): Promise<unknown[]> {
    const { key, fence, lockMs } = lock ?? { key: this.key('lock'), fence: '', lockMs: 0 };
    const texts = commands.map((command) => JSON.stringify(command));
    return this.run('sweepWrite', key, [fence, lockMs, ...texts]);
  }
}

/** Another process has taken the sweep over: nothing was written. */
export class SweepOvertaken extends Error {
  constructor() {
    super('Another process took it over.');
  }
}
