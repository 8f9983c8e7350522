import type { Provider } from '@nestjs/common';
import { JobActions } from './job-actions.js';
import { JobSource } from './job-source.js';
import { JobWalk } from './job-walk.js';
import { OperationBook } from './operation-book.js';
import { OperationPages } from './operation-pages.js';
import { OperationWorker } from './operation-worker.js';
import { Operations } from './operations.js';

/** What other modules may inject. */
export const OPERATION_EXPORTS = [JobWalk, Operations, OperationWorker];

export const OPERATION_PROVIDERS: Provider[] = [
  ...OPERATION_EXPORTS,
  JobActions,
  JobSource,
  OperationBook,
  OperationPages,
];
