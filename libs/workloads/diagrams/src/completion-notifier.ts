import { Journal, LifecycleOptions, type Fact } from '#lifecycle';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { render } from './diagram-kinds.js';
import { DiagramRepository } from './diagram-repository.js';

/**
 * Notifies waiting processes that a diagram's job has ended here. Delivery is not guaranteed: they also poll.
 */
@Injectable()
export class CompletionNotifier implements OnModuleInit {
  constructor(
    private readonly journal: Journal,
    private readonly lifecycle: LifecycleOptions,
    private readonly diagrams: DiagramRepository,
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
