import type { Provider } from '@nestjs/common';
import { JobActions } from './job-actions.js';
import { MatchingJobs } from './matching-jobs.js';
import { MovedJobs } from './moved-jobs.js';
import { OperationBook } from './operation-book.js';
import { OperationPages } from './operation-pages.js';
import { OperationWorker } from './operation-worker.js';
import { Operations } from './operations.js';

/** What other modules may inject. */
export const OPERATION_EXPORTS = [Operations, OperationWorker];

export const OPERATION_PROVIDERS: Provider[] = [
  ...OPERATION_EXPORTS,
  JobActions,
  MatchingJobs,
  MovedJobs,
  OperationBook,
  OperationPages,
];
