import { Module, type DynamicModule } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { ConsoleController } from './console.controller.js';
import { StartController } from './start.controller.js';

export interface ConsoleOptions {
  /** The `path` of `MooringHttpModule`: the console of `/mooring/v1` is at `/mooring/console`. Default none. */
  readonly path?: string;
  /** Whether a browser that opens this path is sent to the console. Default false. */
  readonly start?: boolean;
}

/** Serves the console beside the routes of `MooringHttpModule`, which give it all that it shows. */
@Module({})
export class ConsoleModule {
  static register({ path = '', start = false }: ConsoleOptions = {}): DynamicModule {
    const prefix = path.replaceAll(/^\/+|\/+$/g, '');
    return {
      module: ConsoleModule,
      imports: prefix ? [RouterModule.register([{ path: prefix, module: ConsoleModule }])] : [],
      controllers: [ConsoleController, ...(start ? [StartController] : [])],
    };
  }
}
