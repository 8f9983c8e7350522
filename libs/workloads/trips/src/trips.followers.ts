import { Journal, LifecycleError, parseOwner, type Fact } from '#lifecycle';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Trips } from './trips.service.js';

/**
 * A trip whose owner is cancelled by others, through the api or an event of another service, is cancelled itself. Should the
 * process that did so die before, nobody is asked any more, and the trip expires at its time.
 */
@Injectable()
export class TripFollowers implements OnModuleInit {
  private readonly log = new Logger('Trips');

  constructor(
    private readonly journal: Journal,
    private readonly trips: Trips,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => this.follow(fact));
  }

  private follow(fact: Fact): void {
    if (fact.event !== 'owner.cancelled' || fact.job !== undefined || fact.by === 'trips') return;
    const { type, id } = parseOwner(fact.owner);
    if (type !== 'trip') return;
    this.trips.cancel(id, fact.reason).catch((error: unknown) => {
      // No trip of ours, or one that is over.
      if (!(error instanceof LifecycleError)) this.log.warn(error);
    });
  }
}
