import { LifecycleModule } from '#lifecycle';
import { Module } from '@nestjs/common';
import { OwnCancels } from './own.cancels.js';
import { TripCare } from './trips.care.js';
import { TripFollowers } from './trips.followers.js';
import { RequestHandler, TimeoutHandler } from './trips.handlers.js';
import { request, timeout } from './trips.kinds.js';
import { TripOwners } from './trips.owners.js';
import { TripRepository } from './trips.repository.js';
import { Trips } from './trips.service.js';
import { TripWakes } from './trips.wakes.js';

/** What each of them has. */
@Module({
  imports: [LifecycleModule.forKinds([request, timeout])],
  providers: [OwnCancels, TripFollowers, TripRepository, Trips, TripWakes],
  exports: [TripRepository, Trips, TripWakes],
})
export class TripsModule {}

/** Where requests reach drivers, and trips end that nobody accepted. */
@Module({ imports: [TripsModule], providers: [RequestHandler, TimeoutHandler, TripOwners] })
export class TripsWorkerModule {}

/** Where what was left half-done is finished, and orphans are known. */
@Module({ imports: [TripsModule], providers: [TripCare, TripOwners], exports: [TripCare] })
export class TripsJanitorModule {}
