import { Logger } from '@nestjs/common';
import type { Fact, FactListener } from './fact.js';

const WARNINGS: ReadonlySet<string> = new Set(
  'job.failed job.lost job.stalled sweep.failed sweep.tripped operation.failed trouble'.split(' '),
);

/** At which level a fact is logged: what happens to every job, and sweeps that found nothing, at debug level. */
export function levelOf(fact: Fact): 'debug' | 'info' | 'warn' {
  const { event } = fact;
  if (event === 'workload') return fact.status === 'failed' ? 'warn' : 'info';
  if (event === 'job.failed' && !fact.final) return 'info';
  if (event === 'sweep.done' || event === 'sweep.stopped')
    return fact.removed + Number(fact['healed'] ?? 0) > 0 ? 'info' : 'debug';
  if (event === 'job.retried') return fact.operationId === undefined ? 'info' : 'debug';
  if (BY_HAND.has(event)) return 'info';
  if (WARNINGS.has(event)) return 'warn';
  return event.startsWith('job.') && event !== 'job.handed-back' ? 'debug' : 'info';
}

/** What an operator did to one job. */
const BY_HAND: ReadonlySet<string> = new Set(['job.promoted', 'job.priority-set']);

const METHODS = { debug: 'debug', info: 'log', warn: 'warn' } as const;

/** The listener of an application that names none. */
export function logToNest(logger = new Logger('mooring')): FactListener {
  return (fact) => logger[METHODS[levelOf(fact)]](fact);
}
