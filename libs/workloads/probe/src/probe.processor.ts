import { KindProcessor } from '#nestjs';
import { Processor } from '@nestjs/bullmq';
import { probe } from './probe.kinds.js';

@Processor(probe.queue)
export class ProbeProcessor extends KindProcessor {}
