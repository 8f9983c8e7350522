/** A schema of any library that follows Standard Schema, such as zod, valibot or arktype. */
export interface PayloadSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly validate: (value: unknown) => SchemaResult<Out> | Promise<SchemaResult<Out>>;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
}

type SchemaResult<Out> =
  { readonly value: Out; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaInput<S extends PayloadSchema> = NonNullable<S['~standard']['types']>['input'];
export type SchemaOutput<S extends PayloadSchema> = NonNullable<S['~standard']['types']>['output'];

export type PayloadRead<Out> = { readonly payload: Out } | { readonly problems: string };

/** The payload as the schema reads it, or what is wrong with it, one line a problem. Most schemas answer at once. */
export function readPayload<S extends PayloadSchema>(
  schema: S,
  value: unknown,
): PayloadRead<SchemaOutput<S>> | Promise<PayloadRead<SchemaOutput<S>>> {
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then(readOf) : readOf(result);
}

function readOf<Out>(result: SchemaResult<Out>): PayloadRead<Out> {
  return result.issues ? { problems: result.issues.map(describe).join('\n') } : { payload: result.value };
}

function describe({ message, path = [] }: SchemaIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length === 0 ? `✖ ${message}` : `✖ ${message}\n  → at ${keys.join('.')}`;
}
