import { Module, type DynamicModule, type FactoryProvider, type ModuleMetadata } from '@nestjs/common';
import { Intake } from './intake.js';
import { EventOptions } from './options.js';

export interface EventsAsyncOptions {
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
  readonly inject?: NonNullable<FactoryProvider['inject']>;
  readonly useFactory: (...injected: never[]) => EventOptions | Promise<EventOptions>;
}

/** Receives events of other services. Import it next to `MooringModule`. */
@Module({})
export class EventsModule {
  static forRootAsync({ imports = [], inject = [], useFactory }: EventsAsyncOptions): DynamicModule {
    return {
      module: EventsModule,
      imports,
      providers: [{ provide: EventOptions, inject, useFactory }, Intake],
      exports: [EventOptions, Intake],
    };
  }
}
