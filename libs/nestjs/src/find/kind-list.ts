import { Injectable } from '@nestjs/common';
import { JobRetention } from '../kinds/job-retention.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kept, Kind } from '../kinds/kind.js';

interface KeptView {
  readonly ageMs: number;
  readonly count: number;
}

/** A kind as a list shows it. */
export interface KindView {
  readonly name: string;
  readonly queue: string;
  readonly class: string;
  readonly attempts: number;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly expiresInMs: number | null;
  readonly dedup: string;
  readonly maxPayloadBytes: number;
  readonly keep: { readonly completed: KeptView; readonly failed: KeptView };
  readonly artifacts: boolean;
  /** Whether callers from outside may enqueue its jobs. */
  readonly offered: boolean;
  /** Fields of its payloads that are never shown. */
  readonly hides: readonly string[];
}

/** Lists the kinds that this process knows, by their names. */
@Injectable()
export class KindList {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly retention: JobRetention,
  ) {}

  all(): KindView[] {
    const kinds = this.kinds.all().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return kinds.map((kind) => this.viewOf(kind));
  }

  private viewOf(kind: Kind): KindView {
    const { name, queue, attempts, timeoutMs, graceMs, maxPayloadBytes, artifacts, offered, hides } = kind;
    const keep = {
      completed: keptView(this.retention.of(kind, 'completed')),
      failed: keptView(this.retention.of(kind, 'failed')),
    };
    const limits = { attempts, timeoutMs, graceMs, expiresInMs: kind.expiresInMs ?? null, maxPayloadBytes };
    return {
      name,
      queue,
      class: kind.class,
      ...limits,
      dedup: kind.dedup.strategy,
      keep,
      artifacts,
      offered,
      hides,
    };
  }
}

function keptView({ age, count }: Kept): KeptView {
  return { ageMs: age * 1_000, count };
}
