import { readEventMap } from '#events';
import { FleetEnv, workloadVariables } from '#fleet';
import { ALWAYS, checkStoreVariables, fields } from '#runtime';
import { z } from 'zod';
import { readApiKeysFile } from './auth/api-keys-file.js';
import { readApiKeys, type ApiKey } from './auth/api-keys.js';
import { readSecrets } from './events/signature.js';

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** What the api reads from its environment. */
export const ApiEnv = z
  .object({
    PORT: fields.port.prefault('3000').describe('Where the HTTP interface is served. 0: any free port.'),
    HOST: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .describe('The address to listen on. Beyond loopback it needs `API_KEYS` or `API_KEYS_FILE`.'),
    MAX_CONNECTIONS: fields
      .wholeNumber(16)
      .prefault('4096')
      .describe(
        'How many connections are open at once. With one more, the one that has waited longest for its client is closed.',
      ),
    REQUEST_TIMEOUT: fields
      .durationOfAtLeast(1_000)
      .prefault('30s')
      .describe(
        'How long a request may take to arrive, of which its headers have 10s at most; and how long an answer may lie unread.',
      ),
    API_KEYS: z
      .string()
      .transform(readApiKeys)
      .optional()
      .meta({ form: 'name:scope+scope:sha256,…' })
      .describe(
        'Who may do what: a name, scopes (`enqueue`, `read`, `cancel`, `admin`) and the SHA-256 of the key, in hex.',
      ),
    API_KEYS_FILE: z
      .string()
      .transform(readApiKeysFile)
      .optional()
      .meta({ form: 'file' })
      .describe('A JSON file of more keys, which may have limits and a rate; see `docs/http.md`.'),
    AUDIT_AGE: fields.age.prefault('90d').describe('How long entries of the audit log are kept.'),
    AUDIT_COUNT: fields
      .wholeNumber(1)
      .prefault('100000')
      .describe('How many of them are kept, about: the oldest go first.'),
    EVENT_MAP: z
      .string()
      .transform(readEventMap)
      .optional()
      .meta({ form: 'file' })
      .describe('A JSON file that says which events cancel which owners; see `docs/events.md`.'),
    EVENT_SECRETS: z
      .string()
      .transform(readSecrets)
      .optional()
      .meta({ form: 'whsec_…,…' })
      .describe(
        'What events must be signed with; two while they are changed. Unset: a key with `cancel` is needed.',
      ),
    DEMO: z
      .enum(['on', 'off'])
      .optional()
      .describe(
        'Whether there are pages to try it with, under `/demo`. Unset: only without keys on loopback.',
      ),
    CONSOLE: z
      .enum(['on', 'off'])
      .default('on')
      .describe(
        'Whether the console is served at `/console`. Its page is open; what it shows needs a key as ever.',
      ),
    ...workloadVariables('api'),
    ...FleetEnv,
    ...fields.DurabilityEnv,
    ...fields.ReadyDelayEnv,
  })
  .superRefine(checkStoreVariables, { when: ALWAYS })
  .superRefine(
    (env, context) => {
      // A file that is wrong is reported as such.
      const hasKeys = env.API_KEYS !== undefined || env.API_KEYS_FILE !== undefined;
      if (!hasKeys && env.HOST && !LOOPBACK.test(env.HOST)) {
        context.addIssue({
          code: 'custom',
          path: ['API_KEYS'],
          message: `needed, because HOST is ${env.HOST}: without keys the api listens on loopback only`,
        });
      }
    },
    { when: ALWAYS },
  )
  .superRefine(
    ({ API_KEYS = [], API_KEYS_FILE = [] }, context) => {
      const known = new Set(API_KEYS.map(({ hash }) => hash.toString('hex')));
      const both = API_KEYS_FILE.filter(({ hash }) => known.has(hash.toString('hex')));
      for (const { name } of both)
        context.addIssue({
          code: 'custom',
          path: ['API_KEYS_FILE'],
          message: `the key "${name}" stands in API_KEYS too, without limits. Keep one of the two`,
        });
    },
    { when: ({ issues }) => issues.length === 0 },
  )
  .superRefine(
    ({ SHUTDOWN_READY_DELAY: delay, SHUTDOWN_TIMEOUT: timeout }, context) => {
      if (delay < timeout) return;
      const message = `expected less than SHUTDOWN_TIMEOUT (${timeout} ms), of which it is a part`;
      context.addIssue({ code: 'custom', path: ['SHUTDOWN_READY_DELAY'], message });
    },
    { when: ({ issues }) => issues.length === 0 },
  );

export type ApiEnv = z.output<typeof ApiEnv>;

/** The keys of both variables; undefined if neither is set. */
export function keysOf({ API_KEYS, API_KEYS_FILE }: ApiEnv): readonly ApiKey[] | undefined {
  return API_KEYS || API_KEYS_FILE ? [...(API_KEYS ?? []), ...(API_KEYS_FILE ?? [])] : undefined;
}

export function offersDemo(env: ApiEnv): boolean {
  return env.DEMO ? env.DEMO === 'on' : isForTrying(env);
}

/** True without keys on loopback. */
export function isForTrying(env: ApiEnv): boolean {
  return !keysOf(env) && LOOPBACK.test(env.HOST);
}
