import type { OfferLook } from '../trips.repository.js';

/** A trip is ended by its timeout, which is left so much time to do so. */
const LATE_MS = 150;
const AGAIN_MS = 500;

interface Standing {
  readonly drivers: Set<string>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Ends what phones show at its time: its timeout may be held by a worker that died, or wait in a queue that nobody works off.
 * One timer for each trip that is shown through this process.
 */
export class OfferEnds {
  private readonly trips = new Map<string, Standing>();
  private readonly shown = new Map<string, string>();

  /** @param end Ends a trip whose time is over: 0, or in how many ms it is. */
  constructor(
    private readonly end: (tripId: string) => Promise<number>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** How many trips are waited for. */
  get size(): number {
    return this.trips.size;
  }

  /** What a driver's phones were shown last. */
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

  /** Nobody looks for him any more, or he is shown something else. */
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
    // It was withdrawn meanwhile, or the process ends.
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
