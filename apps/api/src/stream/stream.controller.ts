import { Describes, Needs, Touches } from '#http';
import { enoughOf } from '#workload-kit/api';
import { Controller, Get, Headers, Query, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiOkResponse, ApiProduces, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders } from 'node:http';
import { LiveStreams, STREAM_HEADERS } from './live-streams.js';
import { STREAM } from './stream-openapi.js';
import { TOPICS, TopicsQuery } from './topics.js';

/** Tells a console what changed. */
@Describes(STREAM)
@ApiTags('admin')
@ApiBearerAuth()
@Controller('v1/stream')
export class StreamController {
  constructor(private readonly streams: LiveStreams) {}

  @Get()
  @Needs('read')
  @Touches('fleet')
  @ApiProduces('text/event-stream')
  @ApiQuery({
    name: 'topics',
    required: false,
    description: `What to hear of, separated by commas. By default all: ${TOPICS.join(', ')}.`,
    schema: { type: 'string' },
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'Go on after this event. If some after it are no longer kept, the first event is `gap`.',
  })
  @ApiOkResponse({
    schema: { type: 'string' },
    description:
      'Server-sent events: `queues` with the queues whose counts changed; `job.completed`, `owner.cancelled`, `sweep.done` ' +
      'and the like with a CloudEvent; `jobs` with counts when too many jobs ended at once to name each.',
  })
  async follow(
    @Query({ schema: TopicsQuery }) { topics }: TopicsQuery,
    @Headers('last-event-id') last: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    // Fastify answers HEAD for every GET; a HEAD on this route would never end.
    if (request.method === 'HEAD') return void reply.headers(STREAM_HEADERS).send();
    const begin = await this.streams.prepare(topics, last);
    reply.hijack();
    begin(reply.raw, reply.getHeaders() as OutgoingHttpHeaders, enoughOf(reply));
  }
}
