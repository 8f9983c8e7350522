import { Controller, Get, Inject, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { LimitsGuard } from './access/limits.guard.js';
import { Touches } from './access/touches.js';
import { HttpGuard, type Reply } from './mooring-controller.js';
import { ProblemFilter } from './problem-filter.js';
import { ForEverybody, Needs } from './scopes.js';

/** The answer to a probe. `why` lists every problem. */
export interface Health {
  readonly ok: boolean;
  readonly why: readonly string[];
}

/** What an application answers to probes and to Prometheus. */
export interface HealthSource {
  alive(): Health;
  ready(): Promise<Health>;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
}

export const HEALTH_SOURCE = Symbol('mooring:health-source');

/** Health is public, so that probes need no key. */
@ApiExcludeController()
@Controller()
@UseGuards(HttpGuard, LimitsGuard)
@UseFilters(ProblemFilter)
export class HealthController {
  constructor(@Inject(HEALTH_SOURCE) private readonly source: HealthSource) {}

  @Get('livez')
  @ForEverybody()
  @Touches('nothing')
  alive(): Health {
    return this.source.alive();
  }

  @Get('readyz')
  @ForEverybody()
  @Touches('nothing')
  async ready(@Res({ passthrough: true }) reply: Reply): Promise<Health> {
    const health = await this.source.ready();
    reply.status(health.ok ? 200 : 503);
    return health;
  }

  @Get('metrics')
  @Needs('read')
  @Touches('fleet')
  async metrics(@Res({ passthrough: true }) reply: Reply): Promise<string> {
    reply.header('content-type', this.source.metrics.contentType);
    return this.source.metrics.text();
  }
}
