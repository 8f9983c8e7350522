import { Inject, Injectable } from '@nestjs/common';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import type { Fact, FactListener } from './fact.js';
import { logToNest } from './fact-level.js';

const SAME_TROUBLE_AGAIN_MS = 30_000;
const MOST_TROUBLES_KNOWN = 1_000;

/** Through it everything that happens reaches logs, metrics, other services, and whatever else listens. */
@Injectable()
export class Journal {
  private readonly listeners: FactListener[];
  private readonly toldAt = new Map<string, number>();

  constructor(@Inject(MOORING_OPTIONS) private readonly options: MooringOptions) {
    this.listeners = [...(options.listeners ?? [logToNest()])];
  }

  listen(listener: FactListener): void {
    this.listeners.push(listener);
  }

  tell(fact: Fact): void {
    this.tellHere(fact);
    const { publisher } = this.options;
    if (publisher) attempt(() => void publisher.publish(fact)?.catch(warn), fact);
  }

  /** Without telling other services: the outbox does. */
  tellHere(fact: Fact): void {
    for (const listener of this.listeners) attempt(listener, fact);
  }

  /** A lost connection fails many times in the same way: that is told once in a while. */
  trouble(what: string, error: unknown, more: { readonly resolver?: string } = {}, now = Date.now()): void {
    const { message = String(error), name } = error as Partial<Error>;
    const why = message || name || '';
    const key = `${what} ${why}`;
    if (now - (this.toldAt.get(key) ?? -Infinity) < SAME_TROUBLE_AGAIN_MS) return;
    if (this.toldAt.size >= MOST_TROUBLES_KNOWN) this.toldAt.clear();
    this.toldAt.set(key, now);
    this.tell({ event: 'trouble', what, why, ...more });
  }
}

/** What happened has happened, whether or not a listener fails. */
function attempt(listener: FactListener, fact: Fact): void {
  try {
    listener(fact);
  } catch (error) {
    warn(error);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
