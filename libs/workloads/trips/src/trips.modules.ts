import { LifecycleModule } from '#lifecycle';
import { Module, type DynamicModule } from '@nestjs/common';
import { DemoController } from './demo/demo.controller.js';
import { DriversController } from './drivers.controller.js';
import { OfferHub } from './offers/offer.hub.js';
import { OwnCancels } from './own.cancels.js';
import { TripCare } from './trips.care.js';
import { TripsController } from './trips.controller.js';
import { TripFollowers } from './trips.followers.js';
import { RequestHandler, TimeoutHandler } from './trips.handlers.js';
import { request, timeout } from './trips.kinds.js';
import { TripOwners } from './trips.owners.js';
import { TripRepository } from './trips.repository.js';
import { Trips } from './trips.service.js';
import { TripWakes } from './trips.wakes.js';

@Module({
  imports: [LifecycleModule.forKinds([request, timeout])],
  providers: [OwnCancels, TripFollowers, TripRepository, Trips, TripWakes],
  exports: [TripRepository, Trips],
})
class TripsModule {}

/** Where trips are asked for, and drivers look. */
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

/** Where requests reach drivers, and trips end that nobody accepted. */
@Module({ imports: [TripsModule], providers: [RequestHandler, TimeoutHandler, TripOwners] })
export class TripsWorkerModule {}

/** Where what was left half-done is finished, and orphans are known. */
@Module({ imports: [TripsModule], providers: [TripCare, TripOwners], exports: [TripCare] })
export class TripsJanitorModule {}
