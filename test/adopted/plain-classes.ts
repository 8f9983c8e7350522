import { BullModule } from '@nestjs/bullmq';
import { FlowProducer, Queue, Worker } from 'bullmq';

/** What @nestjs/bullmq does by default. */
export function registerPlainClasses(): void {
  Object.assign(BullModule, { queueClass: Queue, workerClass: Worker, flowProducerClass: FlowProducer });
}
