import type { ForQueueOptions } from '../options.js';

/** What one call of `forQueue` said. */
export class QueueSettings {
  constructor(
    readonly name: string,
    readonly options: ForQueueOptions,
  ) {}
}
