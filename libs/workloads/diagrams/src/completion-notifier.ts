import { Journal, type Fact } from '#nestjs';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { render } from './diagram-kinds.js';
import { DiagramRepository } from './diagram-repository.js';

const ENDS: ReadonlySet<string> = new Set<Fact['event']>([
  'job.completed',
  'job.failed',
  'job.cancelled',
  'job.expired',
  'job.skipped',
]);

/**
 * Notifies waiting processes that a diagram's job has ended here. Delivery is not guaranteed: they also poll.
 */
@Injectable()
export class CompletionNotifier implements OnModuleInit {
  constructor(
    private readonly journal: Journal,
    private readonly diagrams: DiagramRepository,
  ) {}

  onModuleInit(): void {
    this.journal.listen((fact) => {
      if (!('kind' in fact) || fact.kind !== render.name || !ENDS.has(fact.event)) return;
      const { owner } = fact as { readonly owner: string };
      this.diagrams.announceEnd(owner.slice(owner.indexOf(':') + 1)).catch(() => undefined);
    });
  }
}
