import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { JobCanceller } from './cancel/job-canceller.js';
import { ArtifactReader } from './read/artifact-reader.js';
import { JobReader } from './read/job-reader.js';
import { KnownQueues } from './read/known-queues.js';
import { OwnerReader } from './read/owner-reader.js';
import { QueueReader } from './read/queue-reader.js';

const READERS = [ArtifactReader, JobReader, KnownQueues, OwnerReader, QueueReader];

/** Readers of jobs, owners, queues and artifacts. `MooringModule` imports it. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [...READERS, JobCanceller],
  exports: [...READERS, JobCanceller],
})
export class ReadModule {}
