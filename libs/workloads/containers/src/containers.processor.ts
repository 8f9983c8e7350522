import { KindProcessor } from '#nestjs';
import { Processor } from '@nestjs/bullmq';
import { end, provision } from './lease-kinds.js';

@Processor(provision.queue)
export class ContainersProcessor extends KindProcessor {}

@Processor(end.queue)
export class ContainerEndsProcessor extends KindProcessor {}
