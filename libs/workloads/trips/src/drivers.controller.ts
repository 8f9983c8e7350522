import { Audits, Describes, Needs, Touches } from '#http';
import { enoughOf } from '#workload-kit/api';
import { Body, Controller, Get, Headers, Param, Put, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders } from 'node:http';
import { OFFER_HEADERS, OfferHub } from './offers/offer-hub.js';
import { AvailableBody, DriverAnswer, Id } from './trip-schemas.js';
import { Trips } from './trips.service.js';
import { DRIVERS } from './trips-openapi.js';

@Describes(DRIVERS)
@ApiTags('trips')
@ApiBearerAuth()
@Controller('v1/drivers')
@Touches({ ownerTypes: ['driver'] })
export class DriversController {
  constructor(
    private readonly trips: Trips,
    private readonly hub: OfferHub,
  ) {}

  @Put(':id')
  @Needs('enqueue')
  @Audits('driver.set-available', { details: ['available'] })
  @ApiOkResponse({ standardSchema: DriverAnswer })
  async setAvailable(
    @Param('id', { schema: Id }) id: string,
    @Body({ schema: AvailableBody }) { available }: AvailableBody,
  ): Promise<DriverAnswer> {
    await this.trips.setAvailable(id, available);
    return { id, available };
  }

  @Get(':id/offers')
  @Needs('read')
  @ApiProduces('text/event-stream')
  @ApiOkResponse({
    schema: { type: 'string' },
    description:
      'Events `offer`, `withdrawn` and `accepted`; their data is JSON with `tripId`. `Last-Event-ID` goes on.',
  })
  async offers(
    @Param('id', { schema: Id }) id: string,
    @Headers('last-event-id') last: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    // Fastify answers HEAD for every GET; a HEAD on this route would never end.
    if (request.method === 'HEAD') return void reply.headers(OFFER_HEADERS).send();
    // Done before the response starts, so that a store failure becomes an ordinary error response.
    const begin = await this.hub.prepare(id, last);
    reply.hijack();
    begin(reply.raw, reply.getHeaders() as OutgoingHttpHeaders);
    enoughOf(reply).addEventListener('abort', () => reply.raw.end());
  }
}
