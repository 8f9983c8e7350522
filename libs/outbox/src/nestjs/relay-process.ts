import { Journal } from '#nestjs';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { OutboxRelay } from '../outbox-relay.js';
import { migrate } from '../schema.js';
import { KindsTarget } from './kinds-target.js';
import { OUTBOX_OPTIONS, type OutboxModuleOptions } from './options.js';

/** The relay of this process, if it has one. It ends before the connections to the store close. */
@Injectable()
export class RelayProcess implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private relay: OutboxRelay | undefined;

  constructor(
    @Inject(OUTBOX_OPTIONS) private readonly options: OutboxModuleOptions,
    @Inject(KindsTarget) private readonly target: KindsTarget,
    @Inject(Journal) private readonly journal: Journal,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { pool, schema, relay = false } = this.options;
    if (this.options.migrate) await migrate(pool, this.options);
    if (!relay) return;
    const onError = (error: Error) => this.journal.trouble('The relay of the outbox', error);
    this.relay = new OutboxRelay(pool, this.target, { onError, ...(relay === true ? {} : relay), schema });
    this.relay.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.relay?.stop();
  }
}
