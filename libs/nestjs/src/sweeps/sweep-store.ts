import { ownersAt, type OwnerStore } from '#core/parts';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import type { SweepLock } from './sweep.js';

/** A command of the store with its arguments. */
export type Command = readonly (string | number)[];

/** The store as sweeps see it. Their own records are all under `<prefix>~sweeps`. It connects when it is first used. */
@Injectable()
export class SweepStore implements OnApplicationShutdown {
  private opened: OwnerStore | undefined;

  constructor(@Inject(MOORING_OPTIONS) private readonly options: MooringOptions) {}

  get owners(): OwnerStore {
    return (this.opened ??= ownersAt(this.options).store);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opened?.close();
  }

  get client(): OwnerStore['client'] {
    return this.owners.client;
  }

  key(...parts: readonly string[]): string {
    return [`${this.owners.root}~sweeps`, ...parts].join('~');
  }

  /** The store's time, ms. */
  async now(): Promise<number> {
    return Number((await this.run([]))[0]);
  }

  /** Carries out commands in one step, and answers what each of them did. Rejects if another process has taken the lock. */
  async write(commands: readonly Command[], lock?: SweepLock): Promise<unknown[]> {
    const answers = await this.run(commands, lock);
    if (answers.length === 0) throw new SweepOvertaken();
    return answers.slice(1);
  }

  /** Undefined if another process has the lock. */
  async take(kind: string, lockMs: number): Promise<SweepLock | undefined> {
    const key = this.key('lock', kind);
    const [fence] = (await this.run([], { key, fence: 'take', lockMs })) as [string?];
    return fence === undefined ? undefined : { key, fence, lockMs };
  }

  private run(commands: readonly Command[], lock?: SweepLock): Promise<unknown[]> {
    const { key, fence, lockMs } = lock ?? { key: this.key('lock'), fence: '', lockMs: 0 };
    const texts = commands.map((command) => JSON.stringify(command));
    return this.owners.run('sweepWrite', key, [fence, lockMs, ...texts]);
  }
}

/** Another process has taken the sweep over: nothing was written. */
export class SweepOvertaken extends Error {
  constructor() {
    super('Another process took it over.');
  }
}
