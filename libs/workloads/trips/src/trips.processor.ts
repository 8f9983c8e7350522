import { KindProcessor } from '#nestjs';
import { Processor } from '@nestjs/bullmq';
import { request, timeout } from './trip-kinds.js';

@Processor(request.queue)
export class RequestProcessor extends KindProcessor {}

@Processor(timeout.queue)
export class TimeoutProcessor extends KindProcessor {}
