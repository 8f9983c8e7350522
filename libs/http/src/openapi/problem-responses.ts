import { STATUS_CODES } from 'node:http';
import { known, KNOWN_CODES, type KnownProblem } from './known-problems.js';

const text = { type: 'string' } as const;

/** The schema of problem details (RFC 9457). A code may add members. */
export const Problem = {
  type: 'object' as const,
  description: 'Problem details (RFC 9457). Some codes have members besides these.',
  required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
  properties: {
    type: { ...text, enum: ['about:blank'] },
    title: { ...text, description: 'The name of the status.' },
    status: { type: 'integer' as const, minimum: 400, maximum: 599 },
    code: { ...text, description: 'What went wrong, for programs.' },
    detail: { ...text, description: 'What went wrong and what to do, for people.' },
    requestId: { ...text, description: 'The id of the call, as in the log and in `X-Request-Id`.' },
  },
};

/** Those of this library, by code. */
export const PROBLEM_EXAMPLES = Object.fromEntries(
  KNOWN_CODES.map((code) => [code, { summary: code, value: exampleOf(known(code)) }]),
);

/** These answers say when to try again. */
const MAY_PASS = [429, 503];
const RETRY_AFTER = {
  description: 'Seconds until the call may be repeated.',
  schema: { type: 'integer', minimum: 0 },
};

interface Response {
  readonly description: string;
  readonly content: object;
}

/** The responses of a call, one for each status. Those that several calls may have are in `shared`, by their codes. */
export function problemResponses(
  problems: readonly KnownProblem[],
  shared: Record<string, object>,
): Record<string, Response | { readonly $ref: string }> {
  const statuses = [...new Set(problems.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const same = problems.filter((each) => each.status === status).toSorted(byCode);
      if (!same.every(isShared)) return [status, responseOf(status, same)];
      const name = same.map(({ code }) => code).join('-');
      shared[name] = responseOf(status, same);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function responseOf(status: number, problems: readonly KnownProblem[]): Response {
  const codes = problems.map(({ code }) => code);
  const schema = {
    allOf: [{ $ref: '#/components/schemas/Problem' }, { properties: { code: { enum: codes } } }],
  };
  const examples = Object.fromEntries(problems.map((each) => [each.code, showOf(each)]));
  return {
    description: `${STATUS_CODES[status] ?? status}: ${codes.join(', ')}.`,
    ...(MAY_PASS.includes(status) && { headers: { 'Retry-After': RETRY_AFTER } }),
    content: { 'application/problem+json': { schema, examples } },
  };
}

function isShared({ code, detail }: KnownProblem): boolean {
  return PROBLEM_EXAMPLES[code]?.value.detail === detail;
}

function showOf(problem: KnownProblem): object {
  const { code } = problem;
  return isShared(problem)
    ? { $ref: `#/components/examples/${code}` }
    : { summary: code, value: exampleOf(problem) };
}

function exampleOf({ code, status, detail, members }: KnownProblem) {
  const requestId = '2f1c9d34-5d0b-4f4e-9a54-0b6c1f7f0a11';
  return { ...members, type: 'about:blank', title: STATUS_CODES[status], status, code, detail, requestId };
}

function byCode(a: KnownProblem, b: KnownProblem): number {
  return a.code.localeCompare(b.code, 'en');
}
