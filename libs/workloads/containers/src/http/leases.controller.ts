import { Journal } from '#nestjs';
import {
  Audits,
  Caller,
  type CallerLimits,
  Cursor,
  Describes,
  idempotencyKeyOf,
  Limits,
  Needs,
  NotAudited,
  type Reply,
  Touches,
} from '#http';
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBearerAuth, ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { leaseFact, OWNER_TYPE } from '../lease-kinds.js';
import { LeaseAnswer, type Lease, type LeaseRecord, type LeaseState } from '../lease.js';
import { Leases } from '../leases.service.js';
import { CleanUpBody, LeaseBody, LeasesAnswer, RenewBody, State } from './lease-schemas.js';
import { LEASES } from './leases-openapi.js';

@Describes(LEASES)
@ApiTags('leases')
@ApiBearerAuth()
@Controller('v1/leases')
@Touches({ ownerTypes: [OWNER_TYPE] })
export class LeasesController {
  constructor(
    private readonly leases: Leases,
    private readonly journal: Journal,
  ) {}

  @Post()
  @HttpCode(202)
  @Needs('enqueue')
  @NotAudited()
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'The same key again is the same lease.',
  })
  @ApiAcceptedResponse({ standardSchema: LeaseAnswer })
  async ask(
    @Body({ schema: LeaseBody }) { image, duration, owner }: LeaseBody,
    @Res({ passthrough: true }) reply: Reply,
    @Headers('idempotency-key') key: string | undefined,
    @Caller() caller: string,
    @Limits() limits: CallerLimits,
  ): Promise<Lease> {
    if (owner !== undefined) limits.checkOwners([owner]);
    const order = { image, livesMs: duration, owner };
    const lease = await this.leases.ask(order, idempotencyKeyOf(caller, key));
    reply.header('location', `/v1/leases/${lease.id}`);
    return shown(lease);
  }

  @Get()
  @Needs('read')
  @ApiOkResponse({ standardSchema: LeasesAnswer })
  async list(
    @Query('state', { schema: State }) state?: LeaseState,
    @Query('cursor', { schema: Cursor }) cursor?: string,
  ): Promise<{ leases: Lease[]; cursor: string | null }> {
    const page = await this.leases.list(state, cursor);
    return { leases: page.leases.map(shown), cursor: page.cursor };
  }

  @Get(':id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: LeaseAnswer })
  async read(@Param('id') id: string): Promise<Lease> {
    return shown(await this.leases.read(id));
  }

  @Post(':id/renew')
  @HttpCode(200)
  @Needs('enqueue')
  @Audits('lease.renew', { details: ['duration'] })
  @ApiOkResponse({ standardSchema: LeaseAnswer })
  async renew(@Param('id') id: string, @Body({ schema: RenewBody }) { duration }: RenewBody): Promise<Lease> {
    return shown(await this.leases.renew(id, duration));
  }

  @Delete(':id')
  @HttpCode(202)
  @Needs('cancel')
  @Audits('lease.end')
  @ApiAcceptedResponse({ standardSchema: LeaseAnswer, description: 'It ends; `GET` says when it has.' })
  async end(@Param('id') id: string, @Caller() caller: string): Promise<Lease> {
    return shown(await this.leases.delete(id, caller));
  }

  @Post(':id/cleanup')
  @HttpCode(202)
  @Needs('admin')
  @Audits('lease.clean-up', { details: ['release'] })
  @ApiAcceptedResponse({ standardSchema: LeaseAnswer, description: 'Of one that is `manual-cleanup`.' })
  async cleanUp(
    @Param('id') id: string,
    @Caller() caller: string,
    @Body({ schema: CleanUpBody }) body?: CleanUpBody,
  ): Promise<Lease> {
    const release = body?.release === true;
    const lease = await (release ? this.leases.release(id) : this.leases.cleanUp(id));
    const facts = { release, by: caller || 'api' };
    this.journal.tell(leaseFact('lease.cleanup-asked', id, 'done', facts));
    return shown(lease);
  }
}

/** Removes internal fields. */
function shown({ livesMs: _lives, made: _made, jobs: _jobs, ...lease }: LeaseRecord): Lease {
  return lease;
}
