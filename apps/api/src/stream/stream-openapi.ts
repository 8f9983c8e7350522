import type { RouteDescription } from '#http';

export const STREAM = {
  follow: {
    id: 'streamChanges',
    summary: 'Follow what changes',
    description: 'Server-sent events, until the caller closes the connection.',
    parameters: { topics: ['What to hear of, separated by commas.', 'jobs,owners'] },
    problems: [
      {
        code: 'BACKPRESSURE',
        status: 503,
        detail: '100 clients follow this process already. Try again in a second.',
      },
    ],
  },
} as const satisfies Record<string, RouteDescription>;
