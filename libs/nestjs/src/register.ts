import { MooredFlowProducer } from '#core';
import { BullModule } from '@nestjs/bullmq';
import { RegisteredQueue } from './queues/registered-queue.js';
import { RegisteredWorker } from './queues/registered-worker.js';

/** Sets the classes of which BullModule makes queues, workers and flow producers. `registerQueue` reads them when it is called. */
export function registerMooredClasses(): void {
  BullModule.queueClass = RegisteredQueue;
  BullModule.workerClass = RegisteredWorker;
  BullModule.flowProducerClass = MooredFlowProducer;
}

registerMooredClasses();
