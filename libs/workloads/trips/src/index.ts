import { defineWorkload, ownerResolver } from '#workload-kit';
import { DriverQueueWaker } from './driver-queue-waker.js';
import { TripCancelFollower } from './trip-cancel-follower.js';
import { TripCancelIds } from './trip-cancel-ids.js';
import { request, timeout } from './trip-kinds.js';
import { TripReconciler } from './trip-reconciler.js';
import { TripRepository } from './trip-repository.js';
import { RequestHandler, TimeoutHandler } from './trips.handler.js';
import { RequestProcessor, TimeoutProcessor } from './trips.processor.js';
import { Trips } from './trips.service.js';

const TripOwnerResolver = ownerResolver('trip', TripRepository);

/** Rides that are offered to several drivers. One driver can accept. */
export const trips = defineWorkload({
  name: 'trips',
  kinds: [request, timeout],
  offers: 'Whether trips are offered; see `docs/workloads/trips.md`.',
  providers: [DriverQueueWaker, TripCancelFollower, TripCancelIds, TripRepository, Trips],
  api: async () => (await import('./trips-api.js')).API,
  worker: () => ({
    providers: [RequestHandler, RequestProcessor, TimeoutHandler, TimeoutProcessor, TripOwnerResolver],
  }),
  janitor: () => ({ providers: [TripOwnerResolver, TripReconciler] }),
  reconciled: { everyMs: 500, reconciler: TripReconciler },
});
