import { Audits, Caller, Describes, idempotencyKeyOf, Needs, NotAudited, Touches } from '#http';
import { Body, Controller, Get, Headers, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { TripAnswer, type Trip } from './trip.js';
import { CancelTripBody, DriverBody, TripBody } from './trip-schemas.js';
import { Trips } from './trips.service.js';
import { TRIPS } from './trips-openapi.js';

@Describes(TRIPS)
@ApiTags('trips')
@ApiBearerAuth()
@Controller('v1/trips')
@Touches({ ownerTypes: ['trip', 'driver'] })
export class TripsController {
  constructor(private readonly trips: Trips) {}

  @Post()
  @Needs('enqueue')
  @NotAudited()
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'The same key again is the same trip.',
  })
  @ApiCreatedResponse({ standardSchema: TripAnswer })
  async ask(
    @Body({ schema: TripBody }) { customerId, driverIds, expiresIn }: TripBody,
    @Headers('idempotency-key') key: string | undefined,
    @Caller() caller: string,
  ): Promise<Trip> {
    return this.trips.ask({ customerId, driverIds, livesMs: expiresIn }, idempotencyKeyOf(caller, key));
  }

  @Get(':id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: TripAnswer })
  read(@Param('id') id: string): Promise<Trip> {
    return this.trips.read(id);
  }

  @Post(':id/accept')
  @HttpCode(200)
  @Needs('enqueue')
  @Audits('trip.accept', { details: ['driverId'] })
  @ApiOkResponse({ standardSchema: TripAnswer })
  accept(@Param('id') id: string, @Body({ schema: DriverBody }) { driverId }: DriverBody): Promise<Trip> {
    return this.trips.accept(id, driverId);
  }

  @Post(':id/decline')
  @HttpCode(200)
  @Needs('enqueue')
  @Audits('trip.decline', { details: ['driverId'] })
  @ApiOkResponse({ standardSchema: TripAnswer, description: 'The driver is free for the next offer.' })
  decline(@Param('id') id: string, @Body({ schema: DriverBody }) { driverId }: DriverBody): Promise<Trip> {
    return this.trips.decline(id, driverId);
  }

  @Post(':id/complete')
  @HttpCode(200)
  @Needs('enqueue')
  @Audits('trip.complete')
  @ApiOkResponse({ standardSchema: TripAnswer })
  complete(@Param('id') id: string): Promise<Trip> {
    return this.trips.complete(id);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @Needs('cancel')
  @Audits('trip.cancel', { details: ['reason'] })
  @ApiOkResponse({ standardSchema: TripAnswer })
  cancel(
    @Param('id') id: string,
    @Body({ schema: CancelTripBody }) { reason }: CancelTripBody,
  ): Promise<Trip> {
    return this.trips.cancel(id, reason);
  }
}
