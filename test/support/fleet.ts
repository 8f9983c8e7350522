import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, inject } from 'vitest';
import type { EnqueueTicket, JobView } from '#nestjs';
import { isAlive } from '#runtime';
import { checkAnswer } from './contract.js';
import { TestProcess } from './process.js';
import { until } from './until.js';

export interface FleetOptions {
  readonly workers?: number;
  readonly janitor?: boolean;
  readonly storeUrl?: string;
  /** Names the store by variables other than REDIS_URL. The store belongs to the test and is deleted with its keys. */
  readonly storeEnv?: NodeJS.ProcessEnv;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A whole fleet of real processes, with a key prefix of its own; `stop` checks that nothing of it is left. */
export class Fleet {
  readonly prefix = `test-${randomBytes(6).toString('hex')}`;
  readonly processes: TestProcess[] = [];
  readonly workers: TestProcess[] = [];
  readonly janitors: TestProcess[] = [];
  /** The folder of its artifacts. */
  readonly artifacts = mkdtempSync(join(tmpdir(), 'mooring-artifacts-'));
  /** The folder that records which processes are containers of its leases. */
  readonly containers = mkdtempSync(join(tmpdir(), 'mooring-containers-'));
  api!: TestProcess;

  private constructor(private readonly options: FleetOptions) {}

  static async start(options: FleetOptions = {}): Promise<Fleet> {
    const fleet = new Fleet(options);
    fleet.api = fleet.spawn('api');
    if (options.janitor) fleet.addJanitor();
    for (let i = 0; i < (options.workers ?? 1); i += 1) fleet.addWorker();
    try {
      await Promise.all(fleet.processes.map((process) => fleet.untilReady(process)));
      return fleet;
    } catch (error) {
      for (const process of fleet.processes) process.kill('SIGKILL');
      rmSync(fleet.artifacts, { recursive: true, force: true });
      rmSync(fleet.containers, { recursive: true, force: true });
      throw error;
    }
  }

  get url(): string {
    return this.api.url!;
  }

  get storeUrl(): string {
    return this.options.storeUrl ?? inject('storeUrl');
  }

  /** Starts another api next to the one that tests call. */
  addApi(env: NodeJS.ProcessEnv = {}): TestProcess {
    return this.spawn('api', env);
  }

  /** @param home the folder of another version of the project */
  addWorker(home?: string): TestProcess {
    const worker = this.spawn('worker', {}, home);
    this.workers.push(worker);
    return worker;
  }

  addJanitor(env: NodeJS.ProcessEnv = {}): TestProcess {
    const janitor = this.spawn('janitor', env);
    this.janitors.push(janitor);
    return janitor;
  }

  async untilReady(process: TestProcess): Promise<void> {
    await until(
      async () => {
        if (process.hasExited) throw new Error(`It ended: ${process.output}`);
        return process.url !== undefined && (await fetch(`${process.url}/readyz`)).ok;
      },
      `${process.child.spawnargs.at(-1)} is ready`,
      55_000,
    );
  }

  /** Calls the api; fails if the answer is not what docs/openapi.json says. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} };
    checkAnswer(method, path, answer);
    return answer;
  }

  /** Enqueues a probe; returns its id. */
  async probe(payload: object = {}, more: object = {}): Promise<string> {
    const { status, body } = await this.request('POST', '/v1/jobs', {
      kind: 'probe',
      owners: ['trip:42'],
      payload,
      ...more,
    });
    expect({ status, body }).toMatchObject({ status: 201 });
    return (body as unknown as EnqueueTicket).id;
  }

  async job(id: string): Promise<JobView> {
    const { status, body } = await this.request('GET', `/v1/jobs/${id}`);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as unknown as JobView;
  }

  /** The job when it is in that state. */
  untilState(id: string, state: JobView['state'], withinMs?: number): Promise<JobView> {
    return until(
      async () => {
        const job = await this.job(id);
        return job.state === state && job;
      },
      `job ${id} is ${state}`,
      withinMs,
    );
  }

  /** Stops every process and deletes every key; a process that does not exit with 0 fails the test. */
  async stop(): Promise<void> {
    const running = this.processes.filter((process) => !process.hasExited);
    for (const process of running) process.kill('SIGTERM');
    const exits = await Promise.all(running.map((process) => process.exited));
    rmSync(this.artifacts, { recursive: true, force: true });
    rmSync(this.containers, { recursive: true, force: true });
    if (!this.options.storeEnv) await this.forgetKeys();
    expect(exits).toEqual(running.map(() => ({ code: 0, signal: null })));
    expect(this.processes.filter(({ pid }) => isAlive(pid))).toEqual([]);
  }

  private spawn(app: string, env: NodeJS.ProcessEnv = {}, home?: string): TestProcess {
    const settings = {
      ...(this.options.storeEnv ?? this.storeOfRun()),
      MOORING_PREFIX: this.prefix,
      ARTIFACTS_URL: `file:${this.artifacts}`,
      LEASE_FOLDER: this.containers,
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
      ...(app === 'api' ? { PORT: '0' } : {}),
      ...this.options.env,
      ...env,
    };
    const process = TestProcess.app(app, settings, home);
    this.processes.push(process);
    return process;
  }

  private storeOfRun(): NodeJS.ProcessEnv {
    const isOwn = this.options.storeUrl !== undefined;
    return process.env['TEST_CLUSTER'] && !isOwn
      ? { REDIS_CLUSTER: new URL(this.storeUrl).host }
      : { REDIS_URL: this.storeUrl };
  }

  private async forgetKeys(): Promise<void> {
    const redis = new Redis(this.storeUrl);
    for await (const keys of redis.scanStream({ match: `*${this.prefix}*`, count: 1_000 })) {
      if (keys.length > 0) await redis.unlink(...keys);
    }
    await redis.quit();
  }
}
