// Writes the types of an OpenAPI document: its components, and one entry for each call.
const HEAD = '// Written by `npm run openapi` from docs/openapi.json. Do not edit it.\n';
const JSON_TYPE = 'application/json';

export function typesOf({ components, paths }) {
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const schemas = Object.entries(components.schemas);
  const raw = calls.filter(({ operation }) => answersOf(operation).some((schema) => schema === undefined));
  return [
    HEAD,
    ...schemas.map(([name, schema]) => `${comment(schema)}export type ${name} = ${typeOf(schema)};\n`),
    '/** Every call, by method and path. */\nexport interface Calls {',
    ...calls.map(({ name, operation }) => callOf(name, operation)),
    '}\n',
    '/** Calls whose answer is not JSON. */',
    `export const RAW_CALLS = ${JSON.stringify(raw.map(({ name }) => name))} as const;\n`,
  ].join('\n');
}

function callOf(name, operation) {
  const { summary, parameters = [], requestBody } = operation;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  const members = [
    ...['path', 'query', 'header'].map((place) =>
      placeOf(
        place,
        parameters.filter((each) => each.in === place),
      ),
    ),
    requestBody && `body${requestBody.required ? '' : '?'}: ${body ? typeOf(body) : 'unknown'};`,
  ];
  const input = members.filter(Boolean).join(' ');
  const answers = answersOf(operation).map((schema) => (schema === undefined ? 'Response' : typeOf(schema)));
  return `/** ${summary}. */\n'${name}': { input: {${input}}; answer: ${[...new Set(answers)].join(' | ')} };`;
}

function placeOf(place, parameters) {
  if (parameters.length === 0) return undefined;
  const members = parameters.map(
    ({ name, required, schema }) => `'${name}'${required ? '' : '?'}: ${typeOf(schema)};`,
  );
  return `${place}${parameters.some(({ required }) => required) ? '' : '?'}: {${members.join(' ')}};`;
}

/** Their schemas: undefined for what is not JSON. */
function answersOf({ responses }) {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => (content === undefined ? { type: 'null' } : content[JSON_TYPE]?.schema));
}

function typeOf(schema) {
  const { $ref, type, allOf, anyOf, oneOf, enum: values, items, properties } = schema;
  if ($ref) return $ref.split('/').at(-1);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (allOf) return allOf.map((each) => `(${typeOf(each)})`).join(' & ');
  if (anyOf ?? oneOf) return unionOf((anyOf ?? oneOf).map(typeOf));
  if (Array.isArray(type)) return type.map((each) => typeOf({ ...schema, type: each })).join(' | ');
  if (type === 'array') return `(${items ? typeOf(items) : 'unknown'})[]`;
  if (type === 'object' || properties) return objectOf(schema);
  return (
    { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }[type] ??
    'unknown'
  );
}

function unionOf(types) {
  if (types.includes('unknown')) return 'unknown';
  return [...new Set(types)].map((type) => `(${type})`).join(' | ');
}

function objectOf({ properties, required = [], additionalProperties }) {
  if (properties === undefined)
    return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema)}'${name}'${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`,
  );
  return `{${members.join('\n')}}`;
}

function comment({ description }) {
  return description === undefined ? '' : `\n/** ${description.replaceAll('*/', '* /')} */\n`;
}
