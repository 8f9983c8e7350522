import type { KnownProblem, RouteDescription } from '#http';

const TRIP_ID = '37a1df72-3d44-4bb8-bcf7-7664e72eb666';
const TRIP_PARAMETER = { id: ['The id of the trip.', TRIP_ID] } as const;
const DRIVER_PARAMETER = { id: ['The id of the driver, chosen by the caller.', 'driver-7'] } as const;
const TRIP = {
  id: TRIP_ID,
  status: 'PENDING',
  customerId: 'ada',
  driverIds: ['driver-7', 'driver-8'],
  createdAt: '2026-03-01T09:30:00.000Z',
  expiresAt: '2026-03-01T09:35:00.000Z',
};
const ACCEPTED = {
  ...TRIP,
  status: 'ACCEPTED',
  driverId: 'driver-7',
  acceptedAt: '2026-03-01T09:30:40.000Z',
};
const ENDED_AT = '2026-03-01T09:50:00.000Z';

const UNKNOWN: KnownProblem = {
  code: 'UNKNOWN_TRIP',
  status: 404,
  detail: 'There is no trip of that id, or it has been over for more than a day.',
};
const OVER: KnownProblem = { code: 'TRIP_NOT_TO_BE_HAD', status: 409, detail: 'The trip is CANCELLED.' };
const NOT_FOR_DRIVER: KnownProblem = {
  code: 'NOT_FOR_DRIVER',
  status: 409,
  detail: 'The trip is not for driver "driver-9": the driver was not asked.',
};

export const TRIPS = {
  ask: {
    id: 'createTrip',
    summary: 'Ask drivers for a trip',
    body: { customerId: 'ada', driverIds: ['driver-7', 'driver-8'], expiresIn: '5m' },
    answers: { 201: TRIP },
    problems: ['IDEMPOTENCY_CONFLICT', 'OWNER_CLOSED', 'QUEUE_FULL', 'OWNER_FULL'],
  },
  read: {
    id: 'readTrip',
    summary: 'Read a trip',
    parameters: TRIP_PARAMETER,
    answers: { 200: ACCEPTED },
    problems: [UNKNOWN],
  },
  accept: {
    id: 'acceptTrip',
    summary: 'Accept a trip for a driver',
    description: 'One driver can. The offers to the others are withdrawn.',
    parameters: TRIP_PARAMETER,
    body: { driverId: 'driver-7' },
    answers: { 200: ACCEPTED },
    problems: [UNKNOWN, OVER, NOT_FOR_DRIVER],
  },
  decline: {
    id: 'declineTrip',
    summary: 'Decline the offer of a trip for a driver',
    parameters: TRIP_PARAMETER,
    body: { driverId: 'driver-8' },
    answers: { 200: TRIP },
    problems: [UNKNOWN, OVER, NOT_FOR_DRIVER],
  },
  complete: {
    id: 'completeTrip',
    summary: 'Complete an accepted trip',
    parameters: TRIP_PARAMETER,
    answers: { 200: { ...ACCEPTED, status: 'COMPLETED', endedAt: ENDED_AT, reason: 'completed' } },
    problems: [UNKNOWN, OVER],
  },
  cancel: {
    id: 'cancelTrip',
    summary: 'Cancel a trip',
    parameters: TRIP_PARAMETER,
    body: { reason: 'The customer walks.' },
    answers: { 200: { ...TRIP, status: 'CANCELLED', endedAt: ENDED_AT, reason: 'The customer walks.' } },
    problems: [UNKNOWN, OVER, 'CLOSED_FULL'],
  },
} as const satisfies Record<string, RouteDescription>;

export const DRIVERS = {
  setAvailable: {
    id: 'setDriverAvailable',
    summary: 'Say whether a driver takes offers',
    parameters: DRIVER_PARAMETER,
    body: { available: true },
    answers: { 200: { id: 'driver-7', available: true } },
    problems: ['OWNER_CLOSED'],
  },
  offers: {
    id: 'streamOffers',
    summary: 'Follow the offers to a driver',
    description: 'Server-sent events, until the caller closes the connection.',
    parameters: { ...DRIVER_PARAMETER, 'last-event-id': ['The id of the last event received.'] },
  },
} as const satisfies Record<string, RouteDescription>;
