import { Intake, readEvent } from '#events';
import { TakesBytes } from '#workload-kit/api';
import { meansUnavailable } from '#nestjs';
import { Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiConsumes, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { describeError, Describes, ForEverybody, Needs } from '#http';
import { BATCH, contentMode, readBatch, readBinary, readJson, STRUCTURED } from './content-modes.js';
import { EventsAnswer } from './events-schemas.js';
import { SignatureGuard } from './signature.guard.js';
import { EVENT_BODY, EVENTS } from './events-openapi.js';

export const EVENTS_PATH = '/v1/events';
/** Events of one batch that are processed at once. */
const CONCURRENCY = 32;

type Result = { readonly status: number } & Readonly<Record<string, unknown>>;

/** Receives events of other services. Callers present a key. */
@Describes(EVENTS)
@ApiTags('events')
@ApiBearerAuth()
@Controller(EVENTS_PATH)
@Needs('cancel')
export class EventsController {
  constructor(private readonly intake: Intake) {}

  @Post()
  @TakesBytes()
  @HttpCode(200)
  @ApiConsumes(STRUCTURED, BATCH, 'application/json')
  @ApiBody({
    schema: EVENT_BODY as object,
    description: 'One CloudEvent 1.0, or up to 1000; or only its data, with its attributes in ce-* headers.',
  })
  @ApiOkResponse({ standardSchema: EventsAnswer })
  async take(@Req() request: FastifyRequest): Promise<{ results: Result[] }> {
    const { headers } = request;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    switch (contentMode(headers, body)) {
      case 'structured':
        return { results: [await this.takeOne(readJson(body))] };
      case 'binary':
        return { results: [{ status: 200, ...(await this.intake.take(readBinary(headers, body))) }] };
      case 'batch':
        return { results: await this.takeAll(readBatch(body), request) };
    }
  }

  private async takeOne(item: unknown): Promise<Result> {
    return { status: 200, ...(await this.intake.take(readEvent(item))) };
  }

  /**
   * If the store is unavailable for one event, the others are not tried, because each would wait as long. The whole batch is
   * refused: a sender that receives 200 does not send again, and processing an event twice has no further effect.
   */
  private async takeAll(items: readonly unknown[], request: FastifyRequest): Promise<Result[]> {
    const results: Result[] = [];
    let next = 0;
    let away: Error | undefined;
    const worker = async (): Promise<void> => {
      while (next < items.length && !away) {
        const place = next++;
        try {
          results[place] = await this.takeOne(items[place]);
        } catch (error) {
          if (meansUnavailable(error)) {
            away = error as Error;
            return;
          }
          const { problem, retryAfter } = describeError(error, request);
          results[place] = { ...problem, ...(retryAfter !== undefined && { retryAfter }) };
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    if (away) throw away;
    return results;
  }
}

/** Used if EVENT_SECRETS is set: callers sign their events and need no key. */
@ApiTags('events')
@Controller(EVENTS_PATH)
@ForEverybody()
@UseGuards(SignatureGuard)
export class SignedEventsController extends EventsController {
  constructor(intake: Intake) {
    super(intake);
  }
}
