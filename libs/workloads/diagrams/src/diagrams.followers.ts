import { Journal, meansUnavailable, StoreUnavailableError, type Fact } from '#lifecycle';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiagramCare } from './diagram.care.js';
import { OWNER_TYPE } from './diagrams.kinds.js';

/** When an owner is cancelled, by whomever, what it alone has asked for is over. */
@Injectable()
export class DiagramFollowers implements OnModuleInit {
  private readonly log = new Logger('diagrams');

  constructor(
    private readonly journal: Journal,
    private readonly care: DiagramCare,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => this.follow(fact));
  }

  private follow(fact: Fact): void {
    if (fact.event !== 'owner.cancelled' || fact.job !== undefined || fact.epoch === null) return;
    if (fact.owner.startsWith(`${OWNER_TYPE}:`)) return;
    this.care.ownerGone(fact.owner, fact.epoch).catch((error: unknown) => {
      // What several ask for is tended all the same.
      if (!(error instanceof StoreUnavailableError) && !meansUnavailable(error)) this.log.warn(error);
    });
  }
}
