import { isoDate } from '#workload-kit';
import { z } from 'zod';

export const TRIP_STATUSES = ['PENDING', 'ACCEPTED', 'CANCELLED', 'EXPIRED', 'COMPLETED'] as const;
export type TripStatus = (typeof TRIP_STATUSES)[number];

const time = z.iso.datetime();

/** A ride that a customer asked for, and its outcome. */
export const TripAnswer = z
  .object({
    id: z.string(),
    status: z.enum(TRIP_STATUSES),
    customerId: z.string(),
    driverIds: z.array(z.string()).describe('Who is asked, or was.'),
    driverId: z.string().optional().describe('Who accepted.'),
    createdAt: time,
    expiresAt: time,
    acceptedAt: time.optional(),
    endedAt: time.optional(),
    reason: z.string().optional().describe('Why it is over.'),
  })
  .meta({ id: 'Trip' });
export type Trip = z.output<typeof TripAnswer>;

/** Reads a trip from its hash; undefined if there is none. */
export function readTrip(id: string, fields: Record<string, string>): Trip | undefined {
  const { status, customer, drivers, driver, created, expires, accepted, ended, reason } = fields;
  if (!status) return undefined;
  return {
    id,
    status: status as TripStatus,
    customerId: customer!,
    driverIds: JSON.parse(drivers!) as string[],
    ...(driver !== undefined && { driverId: driver }),
    createdAt: isoDate(created!),
    expiresAt: isoDate(expires!),
    ...(accepted !== undefined && { acceptedAt: isoDate(accepted) }),
    ...(ended !== undefined && { endedAt: isoDate(ended) }),
    ...(reason !== undefined && { reason }),
  };
}

export interface TripOrder {
  readonly customerId: string;
  readonly driverIds: readonly string[];
  readonly livesMs: number;
}

/** True if the trip is what was ordered. */
export function isFor(trip: Trip, { customerId, driverIds, livesMs }: TripOrder): boolean {
  return (
    trip.customerId === customerId &&
    JSON.stringify(trip.driverIds) === JSON.stringify(driverIds) &&
    Date.parse(trip.expiresAt) - Date.parse(trip.createdAt) === livesMs
  );
}
