import { Handler, Handles, NotNow, type Payload, type Run } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { DriverUnavailableError } from './trips.errors.js';
import { request, timeout } from './trips.kinds.js';
import { TripRepository } from './trips.repository.js';
import { Trips } from './trips.service.js';
import { TripWakes } from './trips.wakes.js';

/** When a request that waits for its driver looks by itself; it is woken as soon as the driver is free. */
const LOOK_AGAIN_MS = 30_000;

/** Brings a request to its driver, who sees it as an offer. */
@Injectable()
@Handles(request)
export class RequestHandler extends Handler<typeof request> {
  constructor(
    private readonly trips: TripRepository,
    private readonly wakes: TripWakes,
  ) {
    super();
  }

  async handle({ tripId, driverId }: Payload<typeof request>, run: Run): Promise<object> {
    const [word, what, ...woken] = await this.trips.offer(tripId, driverId, run.id);
    switch (word) {
      case 'offered':
        return { offered: true };
      case 'over':
        this.wakes.wake(woken);
        return { offered: false, why: `the trip is ${what}` };
      case 'not-asked':
        return { offered: false, why: 'the driver was not asked' };
      case 'unavailable':
        throw new DriverUnavailableError(driverId);
      case 'busy':
        throw new NotNow(`the driver has another ${what}`, LOOK_AGAIN_MS, () => this.trips.isFree(driverId));
    }
  }
}

/** Ends a trip that nobody accepted, and with the trip's jobs itself: it is one of them. */
@Injectable()
@Handles(timeout)
export class TimeoutHandler extends Handler<typeof timeout> {
  constructor(private readonly trips: Trips) {
    super();
  }

  async handle({ tripId }: Payload<typeof timeout>): Promise<void> {
    const earlyByMs = await this.trips.expire(tripId);
    if (earlyByMs > 0) throw new NotNow('its time has not come', earlyByMs);
  }
}
