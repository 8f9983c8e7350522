import { Quarantine } from '#nestjs';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BacklogGauges } from './backlog-gauges.js';

/** Registers the number of quarantined jobs as a backlog. */
@Injectable()
export class QuarantineCount implements OnModuleInit {
  constructor(
    private readonly gauges: BacklogGauges,
    private readonly quarantine: Quarantine,
  ) {}

  onModuleInit(): void {
    this.gauges.countBy('quarantine', () => this.quarantine.count());
  }
}
