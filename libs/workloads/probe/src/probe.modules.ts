import { LifecycleModule } from '#lifecycle';
import { Module } from '@nestjs/common';
import { probe } from './probe.kinds.js';
import { ProbeHandler } from './probe.handler.js';

/** Api: enqueues probes. */
@Module({ imports: [LifecycleModule.forKinds([probe])] })
export class ProbeApiModule {}

/** Workers: run probes. */
@Module({ imports: [LifecycleModule.forKinds([probe])], providers: [ProbeHandler] })
export class ProbeWorkerModule {}
