export const TRIP_STATUSES = ['PENDING', 'ACCEPTED', 'CANCELLED', 'EXPIRED', 'COMPLETED'] as const;
export type TripStatus = (typeof TRIP_STATUSES)[number];

/** A ride that somebody asked for, and what became of it. */
export interface Trip {
  readonly id: string;
  readonly status: TripStatus;
  readonly customerId: string;
  readonly driverIds: readonly string[];
  /** Who drives, or drove. */
  readonly driverId?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly acceptedAt?: string;
  readonly endedAt?: string;
  /** Why it is over. */
  readonly reason?: string;
}

const TRIP_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Every trip has one of these; `trip:42` is somebody else's trip, of which nothing is known here. */
export function isTripId(id: string): boolean {
  return TRIP_ID.test(id);
}

/** The trip that its hash holds; nothing when there is none. */
export function readTrip(id: string, fields: Record<string, string>): Trip | undefined {
  const { status, customer, drivers, driver, created, expires, accepted, ended, reason } = fields;
  if (!status) return undefined;
  return {
    id,
    status: status as TripStatus,
    customerId: customer!,
    driverIds: JSON.parse(drivers!) as string[],
    ...(driver !== undefined && { driverId: driver }),
    createdAt: isoOf(created!),
    expiresAt: isoOf(expires!),
    ...(accepted !== undefined && { acceptedAt: isoOf(accepted) }),
    ...(ended !== undefined && { endedAt: isoOf(ended) }),
    ...(reason !== undefined && { reason }),
  };
}

function isoOf(ms: string): string {
  return new Date(Number(ms)).toISOString();
}
