import {
  Flows,
  InvalidJobError,
  KindRegistry,
  MAX_FLOW_DEPTH,
  parseOwner,
  type Flow,
  type FlowTicket,
} from '#lifecycle';
import { Body, Controller, Headers, Post, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Needs } from '../auth/api-key.guard.js';
import { FlowAnswer, FlowBody } from './flows-schemas.js';

/** Enqueue a flow: a tree of jobs in which each job waits for its children. */
@ApiTags('flows')
@ApiBearerAuth()
@Controller('v1/flows')
export class FlowsController {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly flows: Flows,
  ) {}

  @Post()
  @Needs('enqueue')
  @ApiCreatedResponse({ standardSchema: FlowAnswer })
  async add(
    @Body({ schema: FlowBody }) body: FlowBody,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FlowTicket> {
    // Ignoring the key would enqueue a second flow when the call is repeated.
    if (key !== undefined) throw new InvalidJobError('A flow accepts no Idempotency-Key.');
    const ticket = await this.flows.add(this.read(body, '', 1));
    reply.header('location', `/v1/jobs/${ticket.id}`);
    return ticket;
  }

  private read({ kind, owners, children = [], ...rest }: FlowBody, place: string, depth: number): Flow {
    const readChild = (child: unknown, i: number): Flow => {
      const at = `${place && `${place}.`}children[${i}]`;
      if (depth === MAX_FLOW_DEPTH)
        throw new InvalidJobError(`${at}: a flow is at most ${MAX_FLOW_DEPTH} jobs deep.`);
      const read = FlowBody.safeParse(child);
      if (!read.success) throw new InvalidJobError(`${at}: ${z.prettifyError(read.error)}`);
      return this.read(read.data, at, depth + 1);
    };
    return {
      ...rest,
      kind: this.kinds.offered(kind),
      owners: owners?.map((text) => named(place, () => parseOwner(text))),
      children: children.map(readChild),
    };
  }
}

function named<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidJobError) || place === '') throw error;
    throw new InvalidJobError(`${place}: ${error.message}`, { cause: error });
  }
}
