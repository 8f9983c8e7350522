import { isoDate } from '#workload-kit';

export const TRIP_STATUSES = ['PENDING', 'ACCEPTED', 'CANCELLED', 'EXPIRED', 'COMPLETED'] as const;
export type TripStatus = (typeof TRIP_STATUSES)[number];

/** A ride that a customer asked for, and its outcome. */
export interface Trip {
  readonly id: string;
  readonly status: TripStatus;
  readonly customerId: string;
  readonly driverIds: readonly string[];
  /** The driver who accepted it. */
  readonly driverId?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly acceptedAt?: string;
  readonly endedAt?: string;
  /** Why it ended. */
  readonly reason?: string;
}

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
