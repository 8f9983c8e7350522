import { Module, type DynamicModule } from '@nestjs/common';
import { DemoController } from './demo/demo.controller.js';
import { DriversController } from './drivers.controller.js';
import { OfferHub } from './offers/offer-hub.js';
import { TripsController } from './trips.controller.js';
import { TripsModule } from './trips.module.js';

/** HTTP routes for trips and drivers. */
@Module({})
export class TripsApiModule {
  static with({ demo }: { readonly demo: boolean }): DynamicModule {
    return {
      module: TripsApiModule,
      imports: [TripsModule],
      controllers: [TripsController, DriversController, ...(demo ? [DemoController] : [])],
      providers: [OfferHub],
    };
  }
}
