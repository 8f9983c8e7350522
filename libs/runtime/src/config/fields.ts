import { parseDuration } from '#durations';
import { z } from 'zod';

/** Longest delay of a Node.js timer. A longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Variables shared by several apps. Each app's schema picks those that it needs. */

/** Upper bound that rejects typing errors and unsafe integers. */
const LONGEST_AGE_MS = 36_500 * 86_400_000;

const EXAMPLES = '500ms, 30s, 5m, 24h or 7d';

function durationWithin(
  least: number,
  most: number,
  expected: string,
  examples = EXAMPLES,
): z.ZodType<number, string> {
  return z
    .string()
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms !== undefined && ms >= least && ms <= most) return ms;
      context.addIssue(`expected ${expected}, as in ${examples}`);
      return z.NEVER;
    })
    .meta({ form: 'duration' });
}

/** An interval or a timeout, which a timer must be able to wait. */
export const duration = durationWithin(1, LONGEST_MS, 'a duration above zero and up to 24d');

/** An age. No timer waits for it, so it may be longer than a timer can wait. */
export const age = durationWithin(1, LONGEST_AGE_MS, 'a duration above zero and up to 36500d');

/** A minimum age; 0 for none. */
export const grace = durationWithin(0, LONGEST_AGE_MS, 'a duration of 0 up to 36500d');

/** A duration with a lower bound: a number without a unit counts as milliseconds, which is often a mistake. */
export function durationOfAtLeast(ms: number): z.ZodType<number, string> {
  return duration
    .refine(
      (value) => value >= ms,
      `expected at least ${ms / 1_000}s; a number without a unit is milliseconds`,
    )
    .meta({ form: 'duration' });
}

export const port = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'expected a port from 0 to 65535')
  .transform(Number)
  .meta({ form: 'port' });

export function wholeNumber(min: number): z.ZodType<number, string> {
  return z
    .string()
    .refine(
      (text) => /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) && Number(text) >= min,
      `expected a whole number of at least ${min}`,
    )
    .transform(Number)
    .meta({ form: 'number' });
}

export function words(): z.ZodType<string[], string> {
  return z
    .string()
    .transform((text) => text.split(',').map((word) => word.trim()))
    .refine((list) => list.every((word) => word !== ''), 'expected names separated by commas')
    .meta({ form: 'a,b,c' });
}

const address = z
  .string()
  .regex(/^(\[[\da-f:]+\]|[^\s:,[\]]+):\d{1,5}$/i)
  .refine((text) => Number(text.split(':').at(-1)) <= 65_535);

export function addresses(): z.ZodType<{ host: string; port: number }[], string> {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((list) => list.every((part) => address.safeParse(part).success), 'expected host:port,host:port')
    .transform((list) =>
      list.map((part) => ({
        host: part.slice(0, part.lastIndexOf(':')).replace(/^\[|\]$/g, ''),
        port: Number(part.split(':').at(-1)),
      })),
    )
    .meta({ form: 'host:port,…' });
}

const redisUrl = z
  .string()
  .refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    // A password with an unescaped / would become part of the path, which messages show.
    return (
      url !== undefined &&
      /^rediss?:$/.test(url.protocol) &&
      url.hostname !== '' &&
      /^\/?\d*$/.test(url.pathname)
    );
  }, 'expected redis://[user:password@]host:port[/db], or rediss:// for TLS; escape a / in a password as %2F')
  .meta({ form: 'url' });

export const StoreEnv = {
  REDIS_URL: redisUrl
    .optional()
    .describe('The store. Unset, and with neither of the next two: a private one.'),
  REDIS_SENTINELS: addresses()
    .optional()
    .describe('Sentinels that know where the store is. Needs `REDIS_MASTER`.'),
  REDIS_MASTER: z.string().min(1).optional().describe('The name under which the Sentinels know the store.'),
  REDIS_CLUSTER: addresses().optional().describe('Some nodes of a Redis Cluster.'),
  REDIS_USERNAME: z.string().min(1).optional().describe('For Sentinel and Cluster; a URL has its own.'),
  REDIS_PASSWORD: z.string().min(1).optional().describe('For Sentinel and Cluster; a URL has its own.'),
  REDIS_TLS: z
    .enum(['on', 'off'])
    .optional()
    .describe('For Sentinel and Cluster, `on` for TLS; a URL says it by `rediss://`.'),
  MOORING_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'expected letters, digits, . _ - (at most 64)')
    .default('mooring')
    .describe('Begins every key, so that several fleets can share a store.'),
};

export const DurabilityEnv = {
  DURABILITY: z
    .enum(['none', 'replica', 'disk'])
    .default('none')
    .describe(
      'What an enqueue and a cancel wait for before they answer: nothing, a replica, or the disk of the master; see `docs/operating.md`.',
    ),
  DURABILITY_TIMEOUT: durationWithin(
    50,
    60_000,
    'a duration of 50ms up to 60s',
    '500ms or 3s; a number without a unit is milliseconds',
  )
    .prefault('1s')
    .describe('How long they wait for it, 50 ms to 60 s, and then answer `durable: false`.'),
};

export const LogEnv = {
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('The least important log lines to write.'),
  LOG_FORMAT: z
    .enum(['json', 'pretty'])
    .optional()
    .describe('How log lines look. Unset: `pretty` on a terminal, `json` elsewhere.'),
};

export const EventsOutEnv = {
  EVENTS_OUT: z
    .enum(['off', 'owners', 'all'])
    .default('all')
    .describe(
      'What other services are told in the stream `events:out`: nothing, what is about owners, or also how each job ended.',
    ),
  EVENTS_OUT_KEEP: wholeNumber(1).prefault('10000').describe('How many events that stream keeps, about.'),
};

export const ShutdownEnv = {
  SHUTDOWN_TIMEOUT: durationOfAtLeast(1_000)
    .prefault('25s')
    .describe('How long a process may take to end after SIGTERM.'),
};

/** Only for the API. Workers and the janitor have no callers and drain at once. */
export const ReadyDelayEnv = {
  SHUTDOWN_READY_DELAY: durationWithin(0, LONGEST_MS, 'a duration of 0 up to 24d')
    .prefault('0')
    .describe(
      'How long the api goes on serving after SIGTERM while `/readyz` says no: what load balancers need to notice. Part of `SHUTDOWN_TIMEOUT`; the image has `5s`.',
    ),
};

export const RetentionEnv = {
  RETENTION_AGE: age
    .prefault('24h')
    .describe('How long finished jobs are kept of a kind that does not say; the same for all.'),
  RETENTION_COUNT: wholeNumber(1)
    .prefault('1000')
    .describe('How many of them are kept, of completed and of failed each; the same for all.'),
};

export const CancelEnv = {
  RECEIPT_KEEP: durationOfAtLeast(60_000)
    .prefault('7d')
    .describe(
      'How long the receipts of cancels, and the history of what was removed, are kept; the same for all.',
    ),
  MAX_CLOSED: wholeNumber(1)
    .prefault('100000')
    .describe(
      'How many owners may be closed at a time that never had a job; more are refused. The same for all.',
    ),
};

export const HealthEnv = {
  HOST: z.string().min(1).default('127.0.0.1').describe('The address to listen on.'),
  HEALTH_PORT: port
    .prefault('0')
    .describe('Where `/livez`, `/readyz` and `/metrics` are served. 0: any free port, which the log names.'),
};
