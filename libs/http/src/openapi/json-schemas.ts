import type { SwaggerDocumentOptions } from '@nestjs/swagger';
import { z } from 'zod';

type Converter = NonNullable<SwaggerDocumentOptions['standardSchemaConverter']>;
type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Writes zod schemas as JSON Schema 2020-12, the dialect of OpenAPI 3.1. Schemas with an id become components. */
export const toJsonSchema: Converter = (schema, { schemaType: io }) => {
  if (!(schema instanceof z.ZodType)) return undefined;
  const {
    $schema: _,
    $defs: components = {},
    ...root
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Clients must not refuse members that an answer gains later.
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      shorten(jsonSchema);
    },
  });
  return { schema: root, components };
};

/** Removes what the type or the format says already, and patterns that many readers of JSON Schema do not understand. */
function shorten(schema: JsonSchema): void {
  if (/\\p\{/i.test(schema.pattern ?? '')) delete schema.pattern;
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}
