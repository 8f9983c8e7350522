import { LifecycleModule } from '#lifecycle';
import { Module } from '@nestjs/common';
import { probe } from './probe.kinds.js';
import { ProbeHandler } from './probe.handler.js';

/** Where probes are asked for. */
@Module({ imports: [LifecycleModule.forKinds([probe])] })
export class ProbeApiModule {}

/** Where probes are run. */
@Module({ imports: [LifecycleModule.forKinds([probe])], providers: [ProbeHandler] })
export class ProbeWorkerModule {}
