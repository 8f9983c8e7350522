import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/store.js';
import { root } from '../support/process.js';

interface Service {
  readonly command: readonly string[];
  readonly environment: Record<string, string>;
  readonly mem_limit: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly stop_grace_period: string;
}

const APPS = ['api', 'worker', 'janitor'] as const;
const UNIT: Record<string, number> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** The compose file with its defaults, as Compose reads it. */
describe('docker-compose.yml', () => {
  const services = composed({ REDIS_PASSWORD: 'hush', API_KEYS: 'x' });

  it.each([...APPS, 'redis'])('limits the %s, and gives it no rights', (name) => {
    expect(services[name]).toMatchObject({
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      cpus: expect.any(Number),
      pids_limit: expect.any(Number),
      logging: { options: { 'max-size': '10m' } },
      read_only: true,
      cap_drop: ['ALL'],
    });
  });

  it.each(APPS)('leaves room beside the heap of the %s, and time for it to end', (name) => {
    const { mem_limit: limit, environment, command, stop_grace_period: grace } = services[name]!;
    const [, heap] = /max-old-space-size=(\d+)/.exec(environment['NODE_OPTIONS']!) ?? [];
    expect(Number(heap) * UNIT['m']!).toBeLessThanOrEqual(bytesOf(limit) * 0.75);
    expect(command).toEqual(['node', `dist/packed/${name}.js`]);
    expect(parseInt(grace, 10)).toBeGreaterThanOrEqual(parseInt(environment['SHUTDOWN_TIMEOUT']!, 10) + 5);
  });

  it('refuses to start without a password for Redis', () => {
    expect(() => composed({ API_KEYS: 'x' })).toThrow('REDIS_PASSWORD is not set.');
  });

  describe('starts a Redis', () => {
    let config: Record<string, string>;
    let refused: unknown;
    beforeAll(async () => ({ config, refused } = await startRedis(services['redis']!)), 30_000);

    it('that asks for the password, persists, and refuses writes instead of deleting jobs', () => {
      expect(String(refused)).toContain('NOAUTH');
      expect(config).toMatchObject({
        appendonly: 'yes',
        maxmemory: String(512 * UNIT['m']!),
        'maxmemory-policy': 'noeviction',
      });
      expect(bytesOf(services['redis']!.mem_limit)).toBeGreaterThanOrEqual(2 * Number(config['maxmemory']));
    });
  });
});

async function startRedis({ command, environment }: Service) {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'mooring-compose-'))];
  const [shell, ...args] = command.map((word) =>
    word.replace('redis-server -', `redis-server - --port ${port}`),
  );
  const server = spawn(shell!, args, { cwd: folder, env: { PATH: process.env['PATH'], ...environment } });
  const exited = once(server, 'exit');
  const redis = new Redis(port, { password: environment['REDISCLI_AUTH']! });
  const stranger = new Redis(port, { lazyConnect: true });
  for (const client of [redis, stranger]) client.on('error', () => undefined);
  try {
    await redis.ping();
    const pairs = await redis.config('GET', '*');
    const refused: unknown = await stranger.get('x').catch((error: unknown) => error);
    const entries = pairs.flatMap((name, i) => (i % 2 === 0 ? [[name, pairs[i + 1]!]] : []));
    return { config: Object.fromEntries(entries) as Record<string, string>, refused };
  } finally {
    redis.disconnect();
    stranger.disconnect();
    server.kill('SIGTERM');
    await exited;
    await rm(folder, { recursive: true });
  }
}

/** Fills in variables: `${NAME:-default}`, `${NAME:?what to say without it}`, and `$$` for a dollar sign. */
function composed(env: Record<string, string>): Record<string, Service> {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const filled = text.replaceAll(
    /\$\$|\$\{(\w+)(?::-([^}]*)|:\?([^}]*))\}/g,
    (whole, name: string, standard = '', refusal?: string) => {
      if (whole === '$$') return '$';
      if (refusal !== undefined && !env[name]) throw new Error(`${name} ${refusal}`);
      return env[name] ?? standard;
    },
  );
  return (load(filled, { schema: CORE_SCHEMA.withTags(mergeTag) }) as { services: Record<string, Service> })
    .services;
}

function bytesOf(size: string): number {
  return parseInt(size, 10) * UNIT[size.at(-1)!]!;
}
