import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { OutboxRows } from '../outbox-rows.js';
import { KindOutbox } from './kind-outbox.js';
import { KindsTarget } from './kinds-target.js';
import { OUTBOX_OPTIONS, type OutboxModuleAsyncOptions, type OutboxModuleOptions } from './options.js';
import { RelayProcess } from './relay-process.js';

const ROWS: Provider = {
  provide: OutboxRows,
  useFactory: (options: OutboxModuleOptions) => new OutboxRows(options.pool, options),
  inject: [OUTBOX_OPTIONS],
};

/** Provides `KindOutbox` and `OutboxRows` everywhere in an application that has `MooringModule.forRoot`. */
@Module({})
export class OutboxModule {
  static forRoot(options: OutboxModuleOptions): DynamicModule {
    return moduleWith({ provide: OUTBOX_OPTIONS, useValue: options });
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: OutboxModuleAsyncOptions): DynamicModule {
    return moduleWith({ provide: OUTBOX_OPTIONS, inject, useFactory }, imports);
  }
}

function moduleWith(options: Provider, imports: NonNullable<DynamicModule['imports']> = []): DynamicModule {
  return {
    module: OutboxModule,
    global: true,
    imports,
    providers: [options, ROWS, KindsTarget, KindOutbox, RelayProcess],
    exports: [KindOutbox, OutboxRows],
  };
}
