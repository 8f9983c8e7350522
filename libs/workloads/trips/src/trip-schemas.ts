import { DurationMs } from '#workload-kit/api';
import { z } from 'zod';
import { TRIP_LIVES } from './trip-kinds.js';

const MOST_DRIVERS = 50;
const LONGEST_MS = 86_400_000;
/** Owner ids and slot keys allow 512 bytes; the slot key is `driver:` plus the id. */
const MOST_ID_BYTES = 505;

/**
 * A driver's or customer's id, chosen by the caller. A lone surrogate is refused, because the store would
 * change it.
 */
export const Id = z
  .string()
  .min(1)
  .max(200)
  .refine((id) => !/\p{Surrogate}/u.test(id), 'holds half of a surrogate pair')
  // The id becomes part of a slot key.
  .refine((id) => !/\p{Cc}/u.test(id), 'holds a control character')
  .refine((id) => Buffer.byteLength(id) <= MOST_ID_BYTES, `has more than ${MOST_ID_BYTES} bytes`);

const Lives = DurationMs.pipe(z.number().min(1, 'more than nothing').max(LONGEST_MS, 'at most 24h'));

export const TripBody = z
  .strictObject({
    customerId: Id.describe('Who asks.'),
    driverIds: z
      .array(Id)
      .min(1)
      .max(MOST_DRIVERS)
      .transform((ids) => [...new Set(ids)])
      .describe('Who is asked.'),
    expiresIn: Lives.prefault(TRIP_LIVES).describe(
      'How long the trip may be accepted: default 5m, at most 24h.',
    ),
  })
  .meta({ id: 'AskForTrip' });
export type TripBody = z.output<typeof TripBody>;

export const DriverBody = z.strictObject({ driverId: Id }).meta({ id: 'TripDriver' });
export type DriverBody = z.output<typeof DriverBody>;

export const CancelTripBody = z
  .strictObject({ reason: z.string().trim().min(1).max(200).default('cancelled by the customer') })
  .prefault({})
  .meta({ id: 'CancelTrip' });
export type CancelTripBody = z.output<typeof CancelTripBody>;

export const AvailableBody = z
  .strictObject({ available: z.boolean().describe('False also withdraws the offer that the driver has.') })
  .meta({ id: 'DriverAvailable' });
export type AvailableBody = z.output<typeof AvailableBody>;

export const DriverAnswer = z.object({ id: z.string(), available: z.boolean() }).meta({ id: 'Driver' });
export type DriverAnswer = z.output<typeof DriverAnswer>;
