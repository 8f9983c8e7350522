import { Runtime, type Health } from '#runtime';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ForEverybody, Needs } from '../auth/api-key.guard.js';

/** Endpoints for probes and Prometheus. */
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly runtime: Runtime) {}

  @Get('livez')
  @ForEverybody()
  alive(): Health {
    return this.runtime.health.alive();
  }

  @Get('readyz')
  @ForEverybody()
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Health> {
    const health = await this.runtime.health.ready();
    reply.status(health.ok ? 200 : 503);
    return health;
  }

  @Get('metrics')
  @Needs('read')
  async metrics(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    reply.type(this.runtime.metrics.contentType);
    return this.runtime.metrics.text();
  }
}
