// Puts each program into one file, `dist/packed/<program>.js`, with the parts that only some calls need beside it: to open two thousand files
// took an app most of its start. The compiled files stay: processes that an app starts, and its assets, are read from there.
import { join, relative } from 'node:path';

const PROGRAMS = {
  api: 'api/src/main.js',
  worker: 'worker/src/main.js',
  janitor: 'janitor/src/main.js',
  sweep: 'janitor/src/sweep-main.js',
  fleet: 'fleet/src/main.js',
};

/** What every start loads. Other packages are found in node_modules, many of them only when they are needed. */
const PACKAGES = [
  '@nestjs/bull-shared',
  '@nestjs/bullmq',
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/mapped-types',
  '@nestjs/platform-fastify',
  '@nestjs/schedule',
  '@nestjs/swagger',
  '@opentelemetry/api',
  'bullmq',
  'cockatiel',
  'cron',
  'cron-parser',
  'es-toolkit',
  'ioredis',
  'iterare',
  'luxon',
  'prom-client',
  'reflect-metadata',
  'rxjs',
  'semver',
  'tslib',
  'zod',
];

/** @param root the folder of the project, which is compiled */
export async function pack(root) {
  const { rolldown } = await import('rolldown');
  const dist = join(root, 'dist');
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.entries(PROGRAMS).map(([name, file]) => [name, join(dist, 'apps', file)]),
    ),
    platform: 'node',
    cwd: root,
    external: isExternal,
    plugins: [{ name: 'places', transform: (code, file) => namePlace(code, file, dist) }],
  });
  await bundle.write({ dir: join(dist, 'packed'), format: 'esm', keepNames: true });
  await bundle.close();
}

function isExternal(id) {
  const isOwn = /^[./#\0]/.test(id);
  return !isOwn && !PACKAGES.some((name) => id === name || id.startsWith(`${name}/`));
}

/** A module finds what lies beside it where it was compiled to. */
function namePlace(code, file, dist) {
  if (!file.startsWith(dist) || !code.includes('import.meta.url')) return undefined;
  const place = JSON.stringify(`../${relative(dist, file)}`);
  return { code: code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`), map: null };
}
