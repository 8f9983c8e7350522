import { describe, expect, it } from 'vitest';
import { MooredFlowProducer, MooredWorker, Slots } from '#core';
import { methodsOf } from '../../../test/support/methods-of.js';
import { PartitionedFlowProducer } from './flow/partitioned-flow-producer.js';
import { PartitionedSlots } from './slots/partitioned-slots.js';
import { PartitionedWorker } from './worker/partitioned-worker.js';

/** Their answers are the same in all partitions, or they use methods that ask all of them. */
const COVERED = {
  worker: `constructor emit on off once Job trace base64Name clientName getBackend createBackend checkConnectionError
    createLockManager createSandbox extendJobLocks createJob jobScheduler isPaused isRunning delay updateDelays
    minimumBlockTimeout maximumBlockTimeout getBlockTimeout getRateLimitDelay isRateLimited waitForRateLimit waitForJob
    mainLoop _getNextJob nextJobFromJobData callProcessJob handleCompleted handleFailed getUnrecoverableErrorMessage
    retryIfFailed whenCurrentJobsFinished stalledChecker moveStalledJobsToWait resumeCancels moveLimitedBackToWait ownersNamedFor adopt
    nextJobAsked mayRun fetchAnother confirmCancel goOnIfOver`,
  flow: `constructor emit on off once Job getBackend addNode addNodes addChildren getNode getChildren collectFlowEntry
    validateFlowJobs queueFromNode toFlowError`,
  slots: `constructor read limitOf`,
};

describe.each([
  { over: PartitionedWorker, plain: MooredWorker, covered: COVERED.worker },
  { over: PartitionedFlowProducer, plain: MooredFlowProducer, covered: COVERED.flow },
  { over: PartitionedSlots, plain: Slots, covered: COVERED.slots },
])('$plain.name over all partitions', ({ over, plain, covered }) => {
  it('overrides every method of BullMQ and of the core that needs it', () => {
    const known = new Set([...methodsOf(over, plain), ...covered.split(/\s+/)]);

    expect(methodsOf(plain, null).filter((name) => !known.has(name))).toEqual([]);
  });
});
