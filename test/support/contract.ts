// oxlint-disable-next-line no-restricted-imports -- Ajv has no other name for this dialect
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { root } from './process.js';

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { name: string; in: string; description?: string; example?: unknown }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}
interface Response {
  readonly $ref?: string;
  readonly content?: Content;
}
type Content = Readonly<Record<string, { schema?: object; example?: unknown; examples?: object }>>;

interface Answered {
  readonly status: number;
  readonly body: unknown;
}

const JSON_TYPES = ['application/json', 'application/problem+json'];

/** docs/openapi.json. The tests of it find out whether the api serves the same. */
export class Contract {
  readonly document = JSON.parse(readFileSync(`${root}/docs/openapi.json`, 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
    components: {
      schemas: Record<string, object>;
      responses: Record<string, Response>;
      examples: Record<string, { value: unknown }>;
    };
  };
  private readonly ajv: Ajv2020;
  private readonly routes: readonly (readonly [path: string, pattern: RegExp])[];

  /** @param isClosed whether the answers of the api may have no members that are not described */
  constructor(isClosed = true) {
    this.ajv = new Ajv2020({ strict: false });
    addFormats.default(this.ajv);
    const schemas = isClosed ? closed(this.document.components.schemas) : this.document.components.schemas;
    this.ajv.addSchema({ $id: 'contract', components: { schemas } });
    const literalFirst = Object.keys(this.document.paths).toSorted((a, b) => paramsOf(a) - paramsOf(b));
    this.routes = literalFirst.map((path) => [path, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)]);
  }

  /** Every operation, by method and path. */
  get operations(): [name: string, operation: Operation][] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    );
  }

  /** What is wrong with an answer; undefined if nothing is, or if the document does not describe the call. */
  troubleWith(method: string, url: string, { status, body }: Answered): string | undefined {
    const path = this.routes.find(([, pattern]) => pattern.test(url.split('?')[0]!))?.[0] ?? '';
    const operation = this.document.paths[path]?.[method.toLowerCase()];
    if (!operation || isOfNoRoute(body)) return undefined;
    const said = `${method} ${path} answered ${status} ${JSON.stringify(body)?.slice(0, 500)}`;
    const response = this.responseOf(operation, status);
    if (!response) return `${said}: docs/openapi.json does not name this status.`;
    const type = JSON_TYPES.find((each) => response.content?.[each]);
    const schema = type && response.content![type]!.schema;
    const trouble = schema && this.invalid(schema, body);
    return trouble && `${said}, which is not what docs/openapi.json says: ${trouble}`;
  }

  responseOf({ responses }: Operation, status: number | string): Response | undefined {
    const { $ref } = responses[status] ?? {};
    return $ref === undefined
      ? responses[status]
      : this.document.components.responses[$ref.split('/').at(-1)!];
  }

  /** Why a value does not have this schema; undefined if it has. */
  invalid(schema: object, value: unknown): string | undefined {
    const validate = this.compiled(schema);
    return validate(value) ? undefined : this.ajv.errorsText(validate.errors);
  }

  private readonly cache = new Map<object, ValidateFunction>();
  private compiled(schema: object): ValidateFunction {
    const known = this.cache.get(schema);
    if (known) return known;
    const own = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"contract#/')) as object;
    const made = this.ajv.compile(own);
    this.cache.set(schema, made);
    return made;
  }
}

/** A call that the api does not offer with its settings, such as those of a workload that is off. */
function isOfNoRoute(body: unknown): boolean {
  return (body as { detail?: string } | null)?.detail === 'There is nothing at this path.';
}

function paramsOf(path: string): number {
  return path.split('{').length;
}

/** Objects without members that they do not name; except for problems, which some codes extend. */
function closed<T>(value: T, name = ''): T {
  if (typeof value !== 'object' || value === null || name === 'Problem') return value;
  if (Array.isArray(value)) return value.map((each) => closed(each as unknown)) as T;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, closed(each as unknown, key)]),
  );
  const isObject = copy['type'] === 'object' && copy['properties'] !== undefined;
  return (isObject ? { additionalProperties: false, ...copy } : copy) as T;
}

/** Made at the start, so that no test that measures a call measures it. */
const shared = new Contract();

/** Fails if the answer of a call is not what docs/openapi.json says. */
export function checkAnswer(method: string, url: string, answer: Answered): void {
  const trouble = shared.troubleWith(method, url, answer);
  if (trouble !== undefined) throw new Error(trouble);
}
