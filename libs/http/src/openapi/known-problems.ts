/** A problem that a call can be answered with, as its documentation shows it. */
export interface KnownProblem {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  /** Members of the problem that only this code has. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Every code of this library and of the api, with its status and an example of its detail. */
const DETAILS = {
  BAD_SIGNATURE: [401, 'The event has no webhook-id. Sign the event as Standard Webhooks describes.'],
  UNAUTHORIZED: [401, 'Send a valid key: "Authorization: Bearer <key>".'],
  INVALID: [400, 'owners: Too small: expected array to have >=1 items'],
  FORBIDDEN: [403, 'The key "shop" lacks the scope "admin".'],
  CROSS_SITE: [
    403,
    'Pages of other sites must not change anything. Call the API from its own pages or from a program, or set API_KEYS.',
  ],
  NOT_FOUND: [404, 'There is no job with this id.'],
  UNKNOWN_KIND: [404, 'No kind is named "prob". Did you mean probe?'],
  REQUEST_TIMEOUT: [
    408,
    'The request did not arrive completely in time. Send it again without pauses; REQUEST_TIMEOUT sets the limit.',
  ],
  DUPLICATE: [
    409,
    'Job probe-28c714c639a8a8e42eda waits already for the same deduplication key: the job cannot wait again beside it.',
  ],
  NOT_DELAYED: [409, 'Job probe-28c714c639a8a8e42eda is not delayed (completed).'],
  NOT_FAILED: [409, 'Job probe-28c714c639a8a8e42eda has not failed (completed): there is nothing to retry.'],
  NOT_WAITING: [409, 'Job probe-28c714c639a8a8e42eda does not wait with a priority (running).'],
  OWNER_CLOSED: [
    409,
    'trip:42 is closed: it was cancelled and takes no new jobs. Reopen it if it is wanted again.',
  ],
  SCHEDULE_ENDED: [409, 'One of its owners was cancelled meanwhile, which ended the schedule.'],
  SLOT_LIMIT: [
    409,
    'The slot "driver:7" has the limit 1, which its first job gave it. Ask for that, or change the limit first.',
  ],
  TOO_LARGE: [413, 'Request body is too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Send application/json.'],
  RANGE_NOT_SATISFIABLE: [416, 'The artifact has 1024 bytes.'],
  WRONG_HOST: [421, 'This API does not serve this host name. Use localhost:3000.'],
  IDEMPOTENCY_CONFLICT: [
    422,
    'This idempotency key was used for a different request. Use a new key for a new request.',
  ],
  OWNER_FULL: [429, 'trip:42 has as many jobs as it may have. Try again when some have ended.'],
  QUEUE_FULL: [429, 'Queue "probe" has 100000 jobs waiting, its limit. Try again later.'],
  RATE_LIMITED: [429, 'The key "shop" may make 100 requests in 1 s. Try again in 10 ms.'],
  REQUEST_HEADER_FIELDS_TOO_LARGE: [431, 'The headers are larger than 16 KiB. Send fewer or shorter ones.'],
  INTERNAL: [500, 'Internal error. The log has the details under this requestId.'],
  ARTIFACT_UNAVAILABLE: [
    503,
    'The job has the artifact output.bin, but its bytes are missing. Ask an operator.',
  ],
  SHUTTING_DOWN: [
    503,
    'This API process is shutting down. Send the request again; another process answers it.',
  ],
  STORE_UNAVAILABLE: [503, 'The store cannot be reached. Try again in 2 s.'],
  CLOSED_FULL: [
    507,
    'Owner "trip:42" never had a job, and no more such owners can be closed or reopened: the limit is reached (maxClosed). Cancel it with close: false, purge the closed owners, or raise the limit.',
  ],
} as const;

export type KnownCode = keyof typeof DETAILS;
export const KNOWN_CODES = Object.keys(DETAILS) as KnownCode[];

export function isKnownCode(code: string): code is KnownCode {
  return Object.hasOwn(DETAILS, code);
}

export function known(code: KnownCode): KnownProblem {
  const [status, detail] = DETAILS[code];
  return { code, status, detail };
}

/** What is refused before a route is chosen, and what can happen to every call. */
export const OF_EVERY_CALL: readonly KnownCode[] = [
  'INVALID',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'CROSS_SITE',
  'REQUEST_TIMEOUT',
  'WRONG_HOST',
  'RATE_LIMITED',
  'REQUEST_HEADER_FIELDS_TOO_LARGE',
  'INTERNAL',
  'SHUTTING_DOWN',
  'STORE_UNAVAILABLE',
];

/** What can happen to a call that may come with a body, too. */
export const OF_EVERY_BODY: readonly KnownCode[] = ['TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
