import type { MooredQueue } from '#core';
import type { Merges } from '../model/ask-all.js';
import { addCounts, every, first, greatest, nothing, some, sum } from '../model/merges.js';
import { mergeMetrics } from './merge-metrics.js';

/** What a queue asks all its partitions, and how their answers become one. */
export const IN_ALL: Merges<MooredQueue> = {
  pause: nothing,
  resume: nothing,
  drain: nothing,
  obliterate: nothing,
  retryJobs: nothing,
  promoteJobs: nothing,
  rateLimit: nothing,
  waitUntilReady: nothing,
  close: nothing,
  disconnect: nothing,

  removeRateLimitKey: sum,
  removeDeduplicationKey: sum,
  removeDebounceKey: sum,
  removeDeprecatedPriorityKey: sum,
  removeOrphanedJobs: sum,
  trimEvents: sum,
  // Each partition has such a limit of its own.
  setGlobalConcurrency: sum,
  removeGlobalConcurrency: sum,
  setGlobalRateLimit: sum,
  removeGlobalRateLimit: sum,

  getJobSchedulersCount: sum,
  getJobScheduler: first,
  removeJobScheduler: some,

  getJobState: (states) => states.find((state) => state !== 'unknown') ?? 'unknown',
  getJobCounts: addCounts,
  getCountsPerPriority: addCounts,
  getDeduplicationJobId: first,
  getDebounceJobId: first,
  getMetrics: mergeMetrics,
  // Until all of them take jobs again.
  getRateLimitTtl: greatest,
  // While one of them goes on the queue is not paused, nor is it maxed.
  isPaused: every,
  isMaxed: every,
};

/** What a queue asks the partition of a job, whose id stands first. */
export const OF_ONE_JOB = [
  'remove',
  'retry',
  'addJobLog',
  'getJobLogs',
  'getDependencies',
  'updateJobProgress',
] as const;
