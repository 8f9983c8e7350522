import type { RouteDescription } from '#http';

const text = { type: 'string' } as const;
const EVENT = {
  type: 'object',
  description: 'A CloudEvent 1.0. It may have more attributes.',
  required: ['specversion', 'id', 'source', 'type'],
  properties: {
    specversion: { ...text, enum: ['1.0'] },
    id: text,
    source: text,
    type: text,
    subject: text,
    time: { ...text, format: 'date-time' },
    data: {},
  },
};

export const EVENT_BODY = {
  anyOf: [
    EVENT,
    { type: 'array', maxItems: 1000, items: EVENT },
    { description: 'Only its data, with its attributes in ce-* headers.' },
  ],
};

export const EVENTS = {
  take: {
    id: 'takeEvents',
    summary: 'Take events of other services',
    description:
      'An event of a mapped type cancels its owner, others are ignored. The same event again has no further effect. With `EVENT_SECRETS` events are signed, and need no key.',
    body: {
      specversion: '1.0',
      id: 'evt-1001',
      source: '/rides',
      type: 'trip.cancelled',
      subject: '42',
      time: '2026-03-01T09:30:00Z',
    },
    answers: {
      200: {
        results: [
          {
            status: 200,
            id: 'evt-1001',
            source: '/rides',
            outcome: 'cancelled',
            owner: 'trip:42',
            cancelId: 'event:tAU0tW7R1JYZRD5589Jund',
          },
        ],
      },
    },
    problems: [
      'BAD_SIGNATURE',
      'IDEMPOTENCY_CONFLICT',
      {
        code: 'EVENTS_BUSY',
        status: 503,
        detail:
          'The limit of 32 concurrent events from callers without a key is reached. Send the event again later, or send a key.',
      },
      'CLOSED_FULL',
    ],
  },
} as const satisfies Record<string, RouteDescription>;
