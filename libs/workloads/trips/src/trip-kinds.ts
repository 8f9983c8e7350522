import { owner } from '#core';
import { defineKind } from '#nestjs';
import { z } from 'zod';

/** Time to accept a trip, unless the customer sets another. */
export const TRIP_LIVES = '5m';

const KEEP = { count: 10, failed: { count: 5 } };

/**
 * Offers a trip to one driver. The job ends when the offer is stored; a standing offer occupies no worker.
 */
export const request = defineKind({
  name: 'trips.request',
  queue: 'trip-requests',
  payload: z.strictObject({ tripId: z.string(), driverId: z.string() }),
  owners: ({ tripId, driverId }) => [owner('trip', tripId), owner('driver', driverId)],
  // The driver is an owner, so one request of a trip waits for each driver.
  dedup: { strategy: 'skip' },
  expiresIn: TRIP_LIVES,
  // Retries for a driver who is offline: enough for a day, in case every wake is lost.
  attempts: 1_000,
  backoff: { type: 'exponential', delay: '1s', max: '90s' },
  slot: ({ driverId }) => ({ key: `driver:${driverId}`, limit: 1 }),
  keep: KEEP,
  // If callers could enqueue it by name, it would offer drivers the trip did not ask and block its own job.
  offered: false,
});

/** Expires a trip that was not accepted. */
export const timeout = defineKind({
  name: 'trips.timeout',
  queue: 'trip-timeouts',
  payload: z.strictObject({ tripId: z.string() }),
  owners: ({ tripId }) => [owner('trip', tripId)],
  dedup: { strategy: 'skip' },
  attempts: 10,
  backoff: { type: 'exponential', delay: '500ms', max: '10s' },
  keep: KEEP,
  offered: false,
});
