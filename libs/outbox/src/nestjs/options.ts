import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { Pool } from 'pg';
import type { RelayOptions } from '../outbox-relay.js';
import type { MigrateOptions } from '../schema.js';

export interface OutboxModuleOptions extends MigrateOptions {
  /** The application's; a relay takes two of its connections. The application closes it. */
  readonly pool: Pool;
  /** Whether this process relays. Default false; any number of processes may. */
  readonly relay?: boolean | Omit<RelayOptions, 'schema'>;
  /** Creates the table at the start. Default false: the application runs `migrationSql` with its own migrations. */
  readonly migrate?: boolean;
}

export interface OutboxModuleAsyncOptions
  extends
    Pick<ModuleMetadata, 'imports'>,
    Pick<FactoryProvider<OutboxModuleOptions>, 'inject' | 'useFactory'> {}

export const OUTBOX_OPTIONS = Symbol('OutboxModuleOptions');
