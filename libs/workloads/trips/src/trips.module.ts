import { LifecycleModule } from '#lifecycle';
import { Module } from '@nestjs/common';
import { TripCancelIds } from './trip-cancel-ids.js';
import { TripReconciler } from './trip-reconciler.js';
import { OwnerCancelFollower } from './owner-cancel-follower.js';
import { RequestHandler, TimeoutHandler } from './trips.handler.js';
import { request, timeout } from './trip-kinds.js';
import { TripOwnerResolver } from './trip-owner.resolver.js';
import { TripRepository } from './trip-repository.js';
import { Trips } from './trips.service.js';
import { DriverQueueWaker } from './driver-queue-waker.js';

/** Providers that every app needs. */
@Module({
  imports: [LifecycleModule.forKinds([request, timeout])],
  providers: [TripCancelIds, OwnerCancelFollower, TripRepository, Trips, DriverQueueWaker],
  exports: [TripRepository, Trips, DriverQueueWaker],
})
export class TripsModule {}

/** Workers: offer trips to drivers and expire trips. */
@Module({ imports: [TripsModule], providers: [RequestHandler, TimeoutHandler, TripOwnerResolver] })
export class TripsWorkerModule {}

/** Janitors: reconcile trips and resolve their owners. */
@Module({ imports: [TripsModule], providers: [TripReconciler, TripOwnerResolver], exports: [TripReconciler] })
export class TripsJanitorModule {}
