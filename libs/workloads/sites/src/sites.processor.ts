import { KindProcessor } from '#nestjs';
import { Processor } from '@nestjs/bullmq';
import { build } from './site-kinds.js';

@Processor(build.queue)
export class BuildProcessor extends KindProcessor {}
