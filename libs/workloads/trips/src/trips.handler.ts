import { Handler, Handles, SnoozeJob, type Payload, type Run } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { DriverUnavailableError } from './trip-errors.js';
import { request, timeout } from './trip-kinds.js';
import { TripRepository } from './trip-repository.js';
import { Trips } from './trips.service.js';
import { DriverQueueWaker } from './driver-queue-waker.js';

/** Fallback check of a queued request; normally it is woken when the driver is free. */
const LOOK_AGAIN_MS = 30_000;

@Injectable()
@Handles(request)
export class RequestHandler extends Handler<typeof request> {
  constructor(
    private readonly trips: TripRepository,
    private readonly waker: DriverQueueWaker,
  ) {
    super();
  }

  async handle({ tripId, driverId }: Payload<typeof request>, run: Run): Promise<object> {
    const [word, what, ...woken] = await this.trips.offer(tripId, driverId, run.id);
    switch (word) {
      case 'offered':
        return { offered: true };
      case 'over':
        this.waker.wake(woken);
        return { offered: false, why: `the trip is ${what}` };
      case 'not-asked':
        return { offered: false, why: 'the driver was not asked' };
      case 'unavailable':
        throw new DriverUnavailableError(driverId);
      case 'busy':
        throw new SnoozeJob(`the driver has another ${what}`, LOOK_AGAIN_MS, () =>
          this.trips.isFree(driverId),
        );
    }
  }
}

/** Expires a trip that was not accepted. Ending the trip also removes the trip's jobs, including this one. */
@Injectable()
@Handles(timeout)
export class TimeoutHandler extends Handler<typeof timeout> {
  constructor(private readonly trips: Trips) {
    super();
  }

  async handle({ tripId }: Payload<typeof timeout>): Promise<void> {
    const earlyByMs = await this.trips.expire(tripId);
    if (earlyByMs > 0) throw new SnoozeJob('its time has not come', earlyByMs);
  }
}
