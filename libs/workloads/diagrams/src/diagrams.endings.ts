import { Journal, LifecycleOptions, type Fact } from '#lifecycle';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { render } from './diagrams.kinds.js';
import { DiagramsRepository } from './diagrams.repository.js';

/** Says that a diagram's job has ended here, to whoever waits for it elsewhere. It is a hint: they also look by themselves. */
@Injectable()
export class DiagramEndings implements OnModuleInit {
  constructor(
    private readonly journal: Journal,
    private readonly lifecycle: LifecycleOptions,
    private readonly diagrams: DiagramsRepository,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => this.tell(fact));
  }

  private tell(fact: Fact): void {
    if (fact.event !== 'job.completed' && fact.event !== 'job.failed' && fact.event !== 'job.skipped') return;
    if (fact.kind !== render.name) return;
    const id = fact.owner.slice(fact.owner.indexOf(':') + 1);
    this.lifecycle.redis.publish(this.diagrams.overChannel, id).catch(() => undefined);
  }
}
