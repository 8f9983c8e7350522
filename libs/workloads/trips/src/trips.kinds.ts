import { defineKind } from '#lifecycle';
import { z } from 'zod';

/** How long a trip may be accepted, unless its customer says otherwise. */
export const TRIP_LIVES = '5m';

const KEEP = { count: 10, failed: { count: 5 } };

/** Asks one driver. Ends when the offer is with the driver; the offer itself is no job, and occupies none. */
export const request = defineKind({
  name: 'trips.request',
  queue: 'trip-requests',
  payload: z.strictObject({ tripId: z.string(), driverId: z.string() }),
  expiresIn: TRIP_LIVES,
  // A driver who is not available may be back any moment of the trip's life: a day of attempts, should no wake come.
  attempts: 1_000,
  backoff: { type: 'exponential', delay: '1s', max: '90s' },
  slot: ({ driverId }) => ({ key: `driver:${driverId}`, limit: 1 }),
  keep: KEEP,
  artifacts: false,
  // Asked for by name it would offer what the trip does not, and take the place of its own job.
  offered: false,
});

/** Ends a trip that nobody accepted. */
export const timeout = defineKind({
  name: 'trips.timeout',
  queue: 'trip-timeouts',
  payload: z.strictObject({ tripId: z.string() }),
  attempts: 10,
  backoff: { type: 'exponential', delay: '500ms', max: '10s' },
  keep: KEEP,
  artifacts: false,
  offered: false,
});
