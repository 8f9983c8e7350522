import type { OpenAPIObject } from '@nestjs/swagger';
import { STATUS_CODES } from 'node:http';
import { DESCRIPTION, type DescribedRoute } from './describes.js';
import { known, OF_EVERY_BODY, OF_EVERY_CALL, type KnownProblem } from './known-problems.js';
import { Problem, problemResponses, PROBLEM_EXAMPLES } from './problem-responses.js';

/** The parts of an operation that are completed. */
interface Operation {
  [DESCRIPTION]?: DescribedRoute;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, Partial<Response>>;
  /** For programs; the description says it to people. */
  'x-scope'?: string;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
}
interface Response {
  description: string;
  content?: Record<string, { example?: unknown }>;
}

const OF_EVERY_LIST: NonNullable<DescribedRoute['parameters']> = {
  cursor: ['The cursor of the page before. Without it the first page is answered.'],
  limit: ['How many items the page has at most.', 20],
  'Idempotency-Key': ['Repeating a call with the same key returns the same answer.', 'order-1001'],
};

/** Adds examples, problems and scopes to a document that Swagger made of routes with `@Describes`. */
export function completeDocument(document: OpenAPIObject): OpenAPIObject {
  const shared: Record<string, object> = {};
  for (const path of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries(path) as [string, Operation][])
      complete(method, operation, shared);
  }
  const { schemas, examples, responses } = document.components ?? {};
  document.components = {
    ...document.components,
    schemas: { ...schemas, Problem },
    responses: { ...responses, ...(shared as NonNullable<typeof responses>) },
    examples: { ...examples, ...PROBLEM_EXAMPLES },
  };
  return document;
}

function complete(method: string, operation: Operation, shared: Record<string, object>): void {
  const { [DESCRIPTION]: route } = operation;
  delete operation[DESCRIPTION];
  for (const parameter of operation.parameters ?? []) describeParameter(parameter, route);
  if (!route) return;
  const { scope, description } = route;
  if (scope) operation['x-scope'] = scope;
  const needs = scope ? `Needs the scope \`${scope}\`.` : 'Needs no key.';
  operation.description = [description, needs].filter(Boolean).join(' ');
  if (route.body !== undefined) show(operation.requestBody?.content, route.body);
  for (const [status, answer] of Object.entries(route.answers ?? {}))
    show(operation.responses[status]?.content, answer);
  for (const [status, response] of Object.entries(operation.responses))
    response.description ||= STATUS_CODES[status] ?? status;
  Object.assign(operation.responses, problemResponses(problemsOf(method, route), shared));
}

function describeParameter(parameter: Parameter, route: DescribedRoute | undefined): void {
  // Swagger marks query parameters as required, because it does not read the schema. All of them are optional here.
  if (parameter.in === 'query') parameter.required = false;
  const [description, example] = route?.parameters?.[parameter.name] ?? OF_EVERY_LIST[parameter.name] ?? [];
  if (description !== undefined) parameter.description ??= description;
  if (example !== undefined) parameter.example = example;
}

function show(content: Record<string, { example?: unknown }> = {}, example: unknown): void {
  for (const each of Object.values(content)) each.example = example;
}

/** Codes may be named twice: the first wins. */
function problemsOf(method: string, { problems = [], scope }: DescribedRoute): KnownProblem[] {
  const withKey = ['UNAUTHORIZED', 'FORBIDDEN'];
  const all = [...problems, ...OF_EVERY_CALL, ...(method === 'get' ? [] : OF_EVERY_BODY)]
    .map((each) => (typeof each === 'string' ? known(each) : each))
    .filter(({ code }) => scope || !withKey.includes(code));
  return [...new Map(all.toReversed().map((each) => [`${each.status} ${each.code}`, each])).values()];
}
