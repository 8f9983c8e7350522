import type { Log } from './log.js';

interface Fact {
  readonly event: string;
  readonly final?: boolean;
  readonly removed?: number;
  readonly healed?: number;
  readonly what?: string;
  readonly owner?: string;
  readonly status?: string;
  readonly facts?: object;
}

const WARNINGS = new Set([
  'job.failed',
  'job.stalled',
  'resolver.failed',
  'resolver.missing',
  'resolver.unproven',
  'schedule.failed',
  'queue.error',
  'artifact.missing',
  'event.dead',
  'events.trouble',
  'events.lost',
  'sweep.failed',
  'sweep.tripped',
  'sweep.trouble',
]);
const NEWS = new Set([
  'owner.cancelled',
  'schedule.ended',
  'job.handed-back',
  'entry.healed',
  'worker.started',
  'worker.draining',
  'worker.drained',
]);

/** Logs a fact: facts that need attention as warnings, facts about every job at debug level. */
export function logFact(log: Log, fact: Fact): void {
  if (fact.event === 'workload') logWorkload(log, fact);
  else if (fact.event === 'job.failed' && !fact.final) log.info(fact);
  else if (WARNINGS.has(fact.event)) log.warn(fact);
  else if (NEWS.has(fact.event) || hasDone(fact)) log.info(fact);
  else log.debug(fact);
}

function logWorkload(log: Log, { what, owner, status, facts }: Fact): void {
  const line = { event: what, owner, status, ...facts };
  if (status === 'failed') log.warn(line);
  else log.info(line);
}

/** A sweep that found nothing is logged at debug level. */
function hasDone({ event, removed = 0, healed = 0 }: Fact): boolean {
  return event.startsWith('sweep.') && removed + healed > 0;
}
