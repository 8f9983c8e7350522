import { levelOf, type Fact } from '#nestjs';
import type { Log } from '#runtime';

/** Facts of libs/events and libs/resolvers that need attention. */
const WARNINGS: ReadonlySet<string> = new Set([
  'event.dead',
  'events.trouble',
  'events.lost',
  'resolver.unproven',
]);

/** Logs a fact: facts that need attention as warnings, facts about every job at debug level. */
export function logFact(log: Log, fact: { readonly event: string }): void {
  log[levelFor(fact)](fact.event === 'workload' ? lineOf(fact as Fact & { event: 'workload' }) : fact);
}

function levelFor(fact: { readonly event: string }): 'debug' | 'info' | 'warn' {
  if (WARNINGS.has(fact.event)) return 'warn';
  return fact.event === 'event.taken' ? 'debug' : levelOf(fact as Fact);
}

function lineOf({ what, owner, status, facts }: Fact & { event: 'workload' }): object {
  return { event: what, owner, status, ...facts };
}
