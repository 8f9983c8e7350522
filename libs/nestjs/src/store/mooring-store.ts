import { createMooredBackend, type MooredBackend } from '#core/parts';
import { Inject, Injectable } from '@nestjs/common';
import type { QueueBaseOptions } from 'bullmq';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';

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

  /** A command of the store, by its name in small letters. */
  async call<Answer>(command: string, ...args: readonly (string | number)[]): Promise<Answer> {
    return (await (await this.backend.client).runCommand(command, [...args])) as Answer;
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }
}
