import { Redis } from 'ioredis';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findServer } from '#runtime';
import { hasOpenssl, makeCertificates, type Certificates } from '../support/certificates.js';
import { Fleet } from '../support/fleet.js';
import { TestProcess } from '../support/process.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisSentinel } from '../support/redis-sentinel.js';
import { freePorts, RedisServer } from '../support/redis-server.js';
import { TestSite } from '../support/sites.js';
import { Stalls } from '../support/stalls.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

const ANSWER_MS = 2_000;
/** Longer than BullMQ's worker waits until it replaces its blocking connection, so that this connection fails too. */
const AWAY_MS = 7_000;
const APPS = ['api', 'worker', 'janitor'];
const A_PROBE = { kind: 'probe', owners: ['trip:42'], payload: {} };

/** The embedded store is always one server, without TLS. */
const REAL_SERVER = findServer() !== undefined;

describe.runIf(REAL_SERVER)('on a Redis Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => (cluster = await RedisCluster.start()));
  afterAll(() => cluster.stop());

  describe('a fleet', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await Fleet.start({ janitor: true, storeEnv: { REDIS_CLUSTER: cluster.addresses } });
    });
    // Covers the shutdown too: it is in order and without trouble.
    afterAll(async () => {
      await fleet.stop();
      expect(troubles(fleet)).toEqual([]);
    });
    afterEach(() => expect(troubles(fleet)).toEqual([]));

    it('becomes ready, runs jobs, retries failed ones, and shuts down in order', async () => {
      const [well, failing] = await Promise.all([fleet.probe({ ms: 50 }), fleet.probe({ failTimes: 1 })]);
      expect(await attemptsOf(fleet, well)).toBe(1);
      expect(await attemptsOf(fleet, failing)).toBe(2);
      for (const { url } of fleet.processes) expect((await fetch(`${url}/readyz`)).status).toBe(200);
    });

    it('runs flows and schedules', async () => {
      const children = [
        { kind: 'probe', payload: {} },
        { kind: 'probe', owners: ['site:1'], payload: {} },
      ];
      const flow = { kind: 'probe', owners: ['trip:7'], payload: {}, children };
      const { body } = await fleet.request('POST', '/v1/flows', flow);
      expect(await attemptsOf(fleet, String(body['id']))).toBe(1);

      const schedule = { kind: 'probe', owners: ['trip:7', 'site:1'], payload: {}, every: '1s' };
      await fleet.request('PUT', '/v1/schedules/s', schedule);
      const id = await until(async () => {
        const answer = await fleet.request('GET', '/v1/schedules/s');
        return answer.body['lastJobId'] as string | null;
      }, 'it had its turn');
      expect(await attemptsOf(fleet, id)).toBe(1);
      expect((await fleet.request('DELETE', '/v1/schedules/s')).status).toBe(204);
    });

    it('builds, shows and deletes sites, each on the node of its keys', async () => {
      const sites = await Promise.all(Array.from({ length: 5 }, () => TestSite.create(fleet)));
      for (const site of sites) expect(await site.put('post', '1')).toBe(201);
      for (const site of sites) {
        await site.untilBuilt();
        await site.text('/post/1');
        expect([await site.delete(), (await site.page('/post/1')).status]).toEqual([204, 404]);
      }
      await until(async () => (await filesOf(fleet)) === 0, 'nothing is left');
    });
  });

  // A fleet of its own, which removes finished jobs after a second.
  it('finished jobs are removed after their artifacts, whose keys are on other nodes', async () => {
    const storeEnv = { REDIS_CLUSTER: cluster.addresses };
    const env = {
      RETENTION_AGE: '1s',
      RETENTION_EVERY: '300ms',
      ARTIFACT_GRACE: '1ms',
      ARTIFACT_SWEEP_EVERY: '300ms',
    };
    const fleet = await Fleet.start({ janitor: true, storeEnv, env });
    try {
      const ids = await Promise.all(
        Array.from({ length: 20 }, () => fleet.probe({ artifactBytes: 9, ms: 10 })),
      );
      await until(async () => (await filesOf(fleet)) > 0, 'something is left');
      for (const id of ids) await fleet.untilState(id, 'removed');
      expect(await filesOf(fleet)).toBe(0);
    } finally {
      await fleet.stop();
    }
    expect(troubles(fleet)).toEqual([]);
  });

  // A fleet of its own, which logs trouble with its store.
  it('a fleet continues after the node of its keys was unavailable for a while', async () => {
    const fleet = await Fleet.start({ janitor: true, storeEnv: { REDIS_CLUSTER: cluster.addresses } });
    try {
      const node = await cluster.nodeOf(`{${fleet.prefix}}`);
      node.freeze();
      const answers = await askUntil(fleet, pause(AWAY_MS)).finally(() => node.thaw());

      expectInTime(answers, [503]);
      expect(await attemptsOf(fleet, await untilAccepted(fleet))).toBe(1);
      expect(fleet.processes.filter(({ hasExited }) => hasExited)).toEqual([]);
    } finally {
      await fleet.stop();
    }
  });

  it('an app refuses a Cluster with a node that evicts', async () => {
    const node = cluster.nodes.at(-1)!;
    await node.ask((redis) => redis.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    try {
      const worker = startApp('worker', { REDIS_CLUSTER: cluster.addresses });
      expect(await worker.exited).toEqual({ code: 1, signal: null });
      expect(worker.output).toMatch(
        /^the Cluster at .*: The store's maxmemory-policy is "allkeys-lru".*noeviction.*\n$/,
      );
    } finally {
      await node.ask((redis) => redis.config('SET', 'maxmemory-policy', 'noeviction'));
    }
  });

  it('an app refuses a Cluster that asks for a password, and says so', async () => {
    const node = cluster.nodes[0]!;
    await node.ask((redis) => redis.config('SET', 'requirepass', 'secret'));
    const worker = startApp('worker', { REDIS_CLUSTER: node.address });
    expect(await worker.exited).toEqual({ code: 1, signal: null });
    expect(worker.output).toMatch(/^The store at the Cluster at .* refuses this user or password \(NOAUTH/m);
  });
});

describe.runIf(REAL_SERVER)('with Sentinels', () => {
  let store: RedisSentinel;
  let fleet: Fleet;
  beforeAll(async () => {
    store = await RedisSentinel.start();
    const storeEnv = { REDIS_SENTINELS: store.addresses, REDIS_MASTER: store.name };
    fleet = await Fleet.start({ janitor: true, storeEnv });
  });
  afterAll(async () => {
    await fleet.stop();
    await store.stop();
  });

  it('a fleet continues at the new master when the old one is killed', async () => {
    const before = await fleet.probe();
    await fleet.untilState(before, 'completed');

    await store.master.kill();
    expectInTime(await askUntil(fleet, store.untilPromoted()), [201, 503]);

    expect(await attemptsOf(fleet, await untilAccepted(fleet))).toBe(1);
    expect((await fleet.job(before)).state).toBe('completed');
    expect(fleet.processes.filter(({ hasExited }) => hasExited)).toEqual([]);
  });
});

describe.runIf(REAL_SERVER && hasOpenssl())('over TLS', () => {
  let folder: string;
  let certificates: Certificates;
  let server: RedisServer;
  let url: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-tls-'));
    certificates = makeCertificates(folder);
    const [port, tlsPort] = await freePorts(2);
    server = await RedisServer.start(port!, {
      'tls-port': tlsPort!,
      'tls-cert-file': certificates.cert,
      'tls-key-file': certificates.key,
      'tls-ca-cert-file': certificates.ca,
      'tls-auth-clients': 'no',
    });
    url = `rediss://127.0.0.1:${tlsPort}`;
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  it('a fleet works when it trusts the issuer of the certificate', async () => {
    const storeEnv = { REDIS_URL: url, NODE_EXTRA_CA_CERTS: certificates.ca };
    const fleet = await Fleet.start({ janitor: true, storeEnv });
    try {
      expect(await attemptsOf(fleet, await fleet.probe())).toBe(1);
    } finally {
      await fleet.stop();
    }
    expect(troubles(fleet)).toEqual([]);
  });

  it('the apps refuse an untrusted certificate and report it once', async () => {
    const complaint = `No store at ${url}: self-signed certificate in certificate chain`;
    await Promise.all(APPS.map((app) => expectUnready(startApp(app, { REDIS_URL: url }), complaint)));
  });
});

describe('unreachable Sentinels', () => {
  it('are reported in one line, not in one for each attempt', async () => {
    const [unused] = await freePorts(1);
    const api = startApp('api', { REDIS_SENTINELS: `127.0.0.1:${unused}`, REDIS_MASTER: 'harbour' });
    await expectUnready(
      api,
      expect.stringMatching(/^No store at harbour by Sentinel at 127.*: All sentinels are unreachable/),
    );
  });
});

describe('an old store', () => {
  let old: Server;
  let url: string;
  beforeAll(async () => {
    old = createServer((socket) =>
      socket.on('data', (data) => socket.write(answerAsRedis5(data.toString()))),
    );
    await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
    url = `redis://127.0.0.1:${(old.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => old.close(resolve)));

  it('is refused by every app with one clear line', async () => {
    const apps = APPS.map((app) => startApp(app, { REDIS_URL: url }));
    for (const app of apps) {
      expect(await app.exited).toEqual({ code: 1, signal: null });
      expect(app.output).toBe(`${url}: The store is Redis 5.0.0; Mooring needs 6.2.0 or newer, or Valkey.\n`);
    }
  });
});

describe('a store with data of an older version', () => {
  it('is refused by every app with one clear line', async () => {
    const store = await TestStore.start();
    const redis = new Redis(store.url);
    try {
      await redis.set('mooring:{sweeps}:lock:expiry:fence', '7');
      for (const app of APPS.map((name) => startApp(name, { REDIS_URL: store.url }))) {
        expect(await app.exited).toEqual({ code: 1, signal: null });
        expect(app.output).toMatch(
          /^\S+: The store has data of Mooring 0\.1\.0 under the prefix "mooring", .+\n$/,
        );
      }
    } finally {
      await redis.quit();
      await store.stop();
    }
  });
});

/** Answers the commands that a client sends when it connects. Redis 5 has no HELLO. */
function answerAsRedis5(data: string): string {
  const info = 'redis_version:5.0.0\r\nloading:0\r\n';
  return [...data.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)]
    .map(([, command]) =>
      command!.toLowerCase() === 'info'
        ? `$${info.length}\r\n${info}\r\n`
        : `-ERR unknown command \`${command}\`, with args beginning with: \r\n`,
    )
    .join('');
}

function startApp(app: string, env: NodeJS.ProcessEnv): TestProcess {
  return TestProcess.app(app, { LOG_FORMAT: 'json', ...(app === 'api' && { PORT: '0' }), ...env });
}

/** Expects that the app waits for its store, has logged only this complaint, and exits when it is told to. */
async function expectUnready(app: TestProcess, complaint: unknown): Promise<void> {
  await until(() => app.url, 'it listens');
  expect((await fetch(`${app.url}/readyz`)).status).toBe(503);
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
  const complaints = app.facts().filter(({ event }) => event === 'store.unreachable');
  expect(complaints.map(({ msg }) => msg)).toEqual([complaint]);
}

/** Warnings and errors. A requested failure of an attempt is neither. */
function troubles(fleet: Fleet): unknown[] {
  const facts = fleet.processes.flatMap((process) => process.facts());
  return facts.filter(({ level }) => Number(level) >= 40);
}

interface Timed {
  readonly status: number;
  readonly tookMs: number;
}

/** Sends probes until the event. */
async function askUntil(fleet: Fleet, event: Promise<unknown>): Promise<Timed[]> {
  const answers: Timed[] = [];
  const stalls = new Stalls();
  let isOver = false;
  const over = event.finally(() => (isOver = true));
  while (!isOver) {
    const began = Date.now();
    const { status } = await fleet.request('POST', '/v1/jobs', A_PROBE);
    answers.push({ status, tookMs: stalls.since(began) });
    await pause(50);
  }
  stalls.stop();
  await over;
  return answers;
}

function expectInTime(answers: readonly Timed[], expected: readonly number[]): void {
  expect(answers.length).toBeGreaterThan(0);
  expect(answers.filter(({ status, tookMs }) => tookMs >= ANSWER_MS || !expected.includes(status))).toEqual(
    [],
  );
}

/** The id of the first job that the api accepts again. */
function untilAccepted(fleet: Fleet): Promise<string> {
  return until(async () => {
    const { status, body } = await fleet.request('POST', '/v1/jobs', A_PROBE);
    return status === 201 && String(body['id']);
  }, 'the api accepts a job');
}

/**
 * How many attempts it took to complete a job. Read after its end, because the state and the attempts of a job may
 * differ for a moment.
 */
async function attemptsOf(fleet: Fleet, id: string): Promise<number> {
  await fleet.untilState(id, 'completed');
  return (await fleet.job(id)).attempts;
}

async function filesOf(fleet: Fleet): Promise<number> {
  const all = await readdir(fleet.artifacts, { recursive: true, withFileTypes: true });
  // The marker of the fleet stays.
  return all.filter((each) => each.isFile() && !each.parentPath.endsWith('/fleets')).length;
}
