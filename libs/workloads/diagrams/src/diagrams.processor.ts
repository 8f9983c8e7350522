import { KindProcessor } from '#nestjs';
import { Processor } from '@nestjs/bullmq';
import { render } from './diagram-kinds.js';

@Processor(render.queue)
export class RenderProcessor extends KindProcessor {}
