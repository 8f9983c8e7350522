import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { ApiEnv } from '../../apps/api/src/api-env.js';
import { FleetEnv } from '../../apps/fleet/src/fleet-env.js';
import { JanitorEnv } from '../../apps/janitor/src/janitor-env.js';
import { WorkerEnv } from '../../apps/worker/src/worker-env.js';
import { root } from '../support/process.js';

const APPS: Record<string, z.ZodObject> = {
  '`npm start` (the launcher)': FleetEnv,
  api: ApiEnv,
  worker: WorkerEnv,
  janitor: JanitorEnv,
};

const INTRODUCTION = `# Configuration

Every setting is an environment variable. Each app reads its own at the start. If any is wrong, one message lists all
errors, one per line, and nothing starts. An empty variable counts as unset. An unknown \`MOORING_…\` name is refused,
with a suggestion. Durations carry a unit: \`500ms\`, \`30s\`, \`5m\`, \`24h\`, \`7d\`.

This page is generated from the schemas: \`npx vitest run test/house/configuration.spec.ts -u\` writes it.
`;

/** The page and the example list every variable of the schemas; a missing one fails here. */
describe('the configuration', () => {
  it('is described completely in docs/configuration.md', async () => {
    const sections = Object.entries(APPS).map(([app, schema]) => `## ${app}\n\n${table(schema)}\n`);
    await expect(
      [INTRODUCTION, ...sections].join('\n'),
      'docs/configuration.md is not what the schemas say: `npx vitest run test/house/configuration.spec.ts -u` writes it',
    ).toMatchFileSnapshot(`${root}/docs/configuration.md`);
  });

  it('is listed completely in .env.example', async () => {
    const text = await readFile(`${root}/.env.example`, 'utf8');
    const listed = [...text.matchAll(/^#? ?([A-Z_]+)=/gm)].map(([, name]) => name!);
    const known = new Set(Object.values(APPS).flatMap((schema) => Object.keys(schema.shape)));
    expect(listed.toSorted(), '.env.example: a line `# NAME=value` for each variable of a schema').toEqual(
      [...known].toSorted(),
    );
  });
});

function table(schema: z.ZodObject): string {
  const rows = Object.entries(schema.shape).map(([name, field]) => {
    const { form, fallback } = read(field as z.ZodType);
    const what = (field as z.ZodType).description;
    expect(what, `${name} says what it is for: .describe('…') in the schema`).toBeTruthy();
    return `| \`${name}\` | ${form} | ${fallback === undefined ? '' : `\`${fallback}\``} | ${what} |`;
  });
  return ['| variable | form | default | what it says |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The form and the default of a field, found by unwrapping it. */
function read(field: z.ZodType): { form: string; fallback: string | undefined } {
  let fallback: string | undefined;
  for (let inner: z.ZodType | undefined = field; inner;) {
    const def = inner.def as {
      type: string;
      innerType?: z.ZodType;
      in?: z.ZodType;
      defaultValue?: unknown;
      entries?: object;
    };
    if (def.defaultValue !== undefined) fallback = JSON.stringify(def.defaultValue).replaceAll('"', '');
    const form = inner.meta()?.['form'] ?? (def.entries && Object.keys(def.entries).join(' \\| '));
    if (typeof form === 'string') return { form, fallback };
    inner = def.innerType ?? def.in;
  }
  return { form: 'text', fallback };
}
