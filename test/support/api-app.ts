import { createLog, HealthBook, loadConfig, Metrics, Runtime, Shutdown } from '#runtime';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { ApiEnv } from '../../apps/api/src/api-env.js';
import { createApi } from '../../apps/api/src/http.js';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into any answer
  readonly body: any;
}

/** The API of a fleet, with all workloads, in the process of the test. It does not listen. */
export class ApiApp {
  readonly prefix = `test-api-${randomBytes(4).toString('hex')}`;
  readonly redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
  readonly log: Record<string, unknown>[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'mooring-api-'));
  app!: NestFastifyApplication;

  /** @param keys the content of `API_KEYS_FILE` */
  static async start(
    keys: readonly object[],
    env: NodeJS.ProcessEnv = {},
    events: readonly object[] = [],
  ): Promise<ApiApp> {
    const api = new ApiApp();
    const [keysFile, eventsFile] = [join(api.folder, 'keys.json'), join(api.folder, 'events.json')];
    writeFileSync(keysFile, JSON.stringify(keys));
    writeFileSync(eventsFile, JSON.stringify(events));
    await api.redis.ping();
    const settings = loadConfig(ApiEnv, {
      API_KEYS_FILE: keysFile,
      EVENT_MAP: eventsFile,
      PROBE: 'on',
      MOORING_PREFIX: api.prefix,
      ARTIFACTS_URL: `file:${api.folder}`,
      ...env,
    });
    const write = (line: string): void => void api.log.push(JSON.parse(line) as Record<string, unknown>);
    const log = createLog('api', { LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, { write });
    const health = new HealthBook();
    const shutdown = new Shutdown(log, health, 1_000);
    const runtime = new Runtime('api', log, api.redis, health, new Metrics('api'), shutdown, undefined);
    api.app = await createApi(runtime, settings);
    await api.app.init();
    return api;
  }

  async call(
    key: string,
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await this.app.inject({
      method: method as 'GET',
      url,
      headers: { host: 'localhost', authorization: `Bearer ${key}`, ...json, ...headers },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    const isJson = answer.headers['content-type']?.toString().includes('json');
    return { status: answer.statusCode, headers: answer.headers, body: isJson ? answer.json() : answer.body };
  }

  async stop(): Promise<void> {
    await this.app.close();
    const keys = await this.redis.keys(`*${this.prefix}*`);
    if (keys.length > 0) await this.redis.del(keys);
    this.redis.disconnect();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** An entry of `API_KEYS_FILE`; the key itself is the name. */
export function fileKey(name: string, more: object = {}): object {
  const sha256 = createHash('sha256').update(name).digest('hex');
  return { name, sha256, scopes: ['enqueue', 'read', 'cancel', 'admin'], ...more };
}
