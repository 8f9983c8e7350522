import { MooredFlowProducer, MooredQueue, MooredWorker } from '#core';
import { BullModule } from '@nestjs/bullmq';
import { FlowProducer, Queue, Worker } from 'bullmq';

/** The registration that an adopting application adds, before any of its modules is made. */
export function registerMooredClasses(): void {
  Object.assign(BullModule, {
    queueClass: MooredQueue,
    workerClass: MooredWorker,
    flowProducerClass: MooredFlowProducer,
  });
}

/** What @nestjs/bullmq does by itself. */
export function registerPlainClasses(): void {
  Object.assign(BullModule, { queueClass: Queue, workerClass: Worker, flowProducerClass: FlowProducer });
}
