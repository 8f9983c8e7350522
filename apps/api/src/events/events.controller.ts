import { Intake, readEvent, type CloudEvent } from '#events';
import { TakesBytes } from '#workload-kit/api';
import { meansUnavailable } from '#nestjs';
import { Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiConsumes, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Audits, CallerLimits, describeError, Describes, ForEverybody, Limits, Needs, Touches } from '#http';
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
@Touches('checked')
export class EventsController {
  constructor(private readonly intake: Intake) {}

  @Post()
  @TakesBytes()
  @HttpCode(200)
  @Audits('event.take', { made: ownersOf })
  @ApiConsumes(STRUCTURED, BATCH, 'application/json')
  @ApiBody({
    schema: EVENT_BODY as object,
    description: 'One CloudEvent 1.0, or up to 1000; or only its data, with its attributes in ce-* headers.',
  })
  @ApiOkResponse({ standardSchema: EventsAnswer })
  async take(@Req() request: FastifyRequest, @Limits() limits: CallerLimits): Promise<{ results: Result[] }> {
    const { headers } = request;
    const take = (item: CloudEvent): Promise<Result> => this.takeOne(item, limits);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    switch (contentMode(headers, body)) {
      case 'structured':
        return { results: [await take(readEvent(readJson(body)))] };
      case 'binary':
        return { results: [await take(readBinary(headers, body))] };
      case 'batch':
        return { results: await this.takeAll(readBatch(body), take, request) };
    }
  }

  private async takeOne(event: CloudEvent, limits: CallerLimits): Promise<Result> {
    const result = await this.intake.take(event, ({ type }) => limits.checkWholeOwners([type]));
    return { status: 200, ...result };
  }

  /**
   * If the store is unavailable for one event, the others are not tried, because each would wait as long. The whole batch is
   * refused: a sender that receives 200 does not send again, and processing an event twice has no further effect.
   */
  private async takeAll(
    items: readonly unknown[],
    take: (event: CloudEvent) => Promise<Result>,
    request: FastifyRequest,
  ): Promise<Result[]> {
    const results: Result[] = [];
    let next = 0;
    let away: Error | undefined;
    const worker = async (): Promise<void> => {
      while (next < items.length && !away) {
        const place = next++;
        try {
          results[place] = await take(readEvent(items[place]));
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

/** The owners that the events of a call have cancelled. */
function ownersOf({ results }: { readonly results: readonly Result[] }): string | undefined {
  const owners = results.flatMap(({ outcome, owner }) => (outcome === 'cancelled' ? [String(owner)] : []));
  return owners.length > 0 ? [...new Set(owners)].join(' ') : undefined;
}
