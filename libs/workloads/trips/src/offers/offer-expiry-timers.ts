import type { OfferLook } from '../trip-repository.js';

/** Head start for the trip's timeout job, which normally ends the trip. */
const LATE_MS = 150;
const AGAIN_MS = 500;

interface Standing {
  readonly drivers: Set<string>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Ends an expired trip that a phone still shows. The timeout job may be held by a dead worker or wait in a
 * queue without workers. There is one timer for each trip shown through this process.
 */
export class OfferExpiryTimers {
  private readonly trips = new Map<string, Standing>();
  private readonly shown = new Map<string, string>();

  /** @param end Expires a trip; resolves to 0, or to the ms left until it expires. */
  constructor(
    private readonly end: (tripId: string) => Promise<number>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Number of trips with a timer. */
  get size(): number {
    return this.trips.size;
  }

  /** Records the offer that a driver's phones show. */
  note(driverId: string, { standing, leftMs }: OfferLook): void {
    if ((this.shown.get(driverId) ?? '') === standing) return;
    this.forget(driverId);
    if (standing === '') return;
    this.shown.set(driverId, standing);
    const trip = this.trips.get(standing);
    if (trip) return void trip.drivers.add(driverId);
    this.trips.set(standing, { drivers: new Set([driverId]), timer: undefined });
    this.endIn(standing, leftMs + LATE_MS);
  }

  /** Called when the driver has no stream left, or another offer is shown. */
  forget(driverId: string): void {
    const tripId = this.shown.get(driverId);
    if (tripId === undefined) return;
    this.shown.delete(driverId);
    const trip = this.trips.get(tripId)!;
    trip.drivers.delete(driverId);
    if (trip.drivers.size > 0) return;
    clearTimeout(trip.timer);
    this.trips.delete(tripId);
  }

  stop(): void {
    for (const driverId of this.shown.keys()) this.forget(driverId);
  }

  private endIn(tripId: string, ms: number): void {
    const trip = this.trips.get(tripId);
    // The offer was withdrawn, or the process is shutting down.
    if (!trip) return;
    clearTimeout(trip.timer);
    trip.timer = setTimeout(
      () => {
        this.end(tripId).then(
          (earlyByMs) => earlyByMs > 0 && this.endIn(tripId, earlyByMs),
          (error: unknown) => {
            this.failed(error);
            this.endIn(tripId, AGAIN_MS);
          },
        );
      },
      Math.max(0, ms),
    ).unref();
  }
}
