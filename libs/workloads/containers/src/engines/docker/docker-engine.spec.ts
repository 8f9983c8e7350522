import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDocker, type Call } from '../../../../../../test/support/fake-docker.js';
import { until } from '../../../../../../test/support/until.js';
import { EngineUnavailable, NoSuchImage, type Container } from '../container-engine.js';
import { DockerEngine } from './docker-engine.js';
import { limited } from './limited.js';

const CAPS = { memoryMb: 64, cpus: 0.5, pids: 32 };
const CALL_MS = 1_000;
const never = new AbortController().signal;
const labels = { 'lease.id': 'l-1' };

const spec = { name: 'lease-l-1', image: 'busybox', labels };

describe('the docker engine', () => {
  let fake: FakeDocker;
  let engine: DockerEngine;

  beforeEach(async () => {
    fake = await FakeDocker.start();
    engine = new DockerEngine(fake.host, CAPS, CALL_MS);
  });

  afterEach(() => fake.stop());

  const make = (): Promise<Container> => engine.create(spec, never);

  it('requests only what a container needs', async () => {
    const { id } = await make();
    expect(fake.get(id)?.wanted).toMatchObject({
      Image: 'busybox',
      Labels: labels,
      NetworkDisabled: true,
      HostConfig: {
        Memory: 64 * 1024 * 1024,
        MemorySwap: 64 * 1024 * 1024,
        NanoCpus: 500_000_000,
        PidsLimit: 32,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        Privileged: false,
        NetworkMode: 'none',
        ReadonlyRootfs: true,
        RestartPolicy: { Name: 'no' },
      },
    });
    expect(JSON.stringify(fake.get(id)?.wanted)).not.toMatch(/Binds|Mounts|CapAdd|Devices/);
  });

  it('names a missing image and pulls none', async () => {
    const asked = engine.create({ ...spec, image: 'alpine:9' }, never);
    await expect(asked).rejects.toThrow(
      new NoSuchImage('The engine has no image "alpine:9", and none is pulled. Run: docker pull alpine:9'),
    );
    expect(fake.calls).toEqual(['POST /containers/create']);
  });

  const calls: [Call, (made: Container, signal: AbortSignal) => Promise<unknown>][] = [
    ['create', (_, signal) => engine.create({ ...spec, name: 'lease-l-2' }, signal)],
    ['start', (_, signal) => engine.create({ ...spec, name: 'lease-l-2' }, signal)],
    ['inspect', ({ id }, signal) => engine.find(id, signal)],
    ['inspect', ({ name }, signal) => engine.named(name, signal)],
    ['list', (_, signal) => engine.list('lease.id', signal)],
    ['stop', ({ id }, signal) => engine.stop(id, signal)],
    ['remove', ({ id }, signal) => engine.remove(id, signal)],
  ];

  it.each(calls)('gives up a %s that never returns', async (call, ask) => {
    const made = await make();
    fake.trouble({ call, trouble: 'hang' });
    const began = performance.now();
    await expect(ask(made, never)).rejects.toThrow(/did not .* within \d+ ms/);
    expect(performance.now() - began).toBeLessThan(CALL_MS * 4);
  });

  it.each(calls)('gives up a %s as soon as its signal aborts', async (call, ask) => {
    const made = await make();
    fake.trouble({ call, trouble: 'hang' });
    const controller = new AbortController();
    const asked = ask(made, controller.signal).catch((error: unknown) => error);
    const verb = { create: 'POST', start: 'POST', stop: 'POST', kill: 'POST', remove: 'DELETE' } as const;
    const method = verb[call as keyof typeof verb] ?? 'GET';
    await until(() => fake.calls.at(-1)?.startsWith(method), 'the engine was asked');
    const enough = new Error('enough');
    controller.abort(enough);
    expect(await asked).toBe(enough);
  });

  it.each(calls)('reports a %s that breaks off or is refused as retryable', async (call, ask) => {
    const made = await make();
    for (const trouble of ['cut', 'error', 'truncated'] as const) {
      fake.trouble({ call, trouble });
      await expect(ask(made, never)).rejects.toThrow(EngineUnavailable);
    }
  });

  it.each([
    { statusCode: 500, json: { message: 'not well '.repeat(500_000) } },
    { statusCode: 500, json: 'not well '.repeat(500_000) },
    new Error('not well '.repeat(500_000)),
  ])('shortens long engine messages', async (cause) => {
    const error = await limited('answer', 1_000, never, () => Promise.reject(cause as Error)).catch(String);
    expect(error).toContain('not well not well');
    expect(error.length).toBeLessThan(300);
  });

  it('finds what it created when the response was lost', async () => {
    for (const call of ['create', 'start', 'inspect'] as const) {
      fake.trouble({ call, trouble: 'lost' });
      await expect(make()).rejects.toThrow(EngineUnavailable);
    }
    expect(await make()).toMatchObject({ running: true });
    expect(fake.containers.size).toBe(1);
  });

  it('treats a stop or remove as done when only the response was lost', async () => {
    const { id } = await make();
    fake.trouble({ call: 'stop', trouble: 'lost' });
    await expect(engine.stop(id, never)).rejects.toThrow(EngineUnavailable);
    await engine.stop(id, never);
    fake.trouble({ call: 'remove', trouble: 'lost' });
    await expect(engine.remove(id, never)).rejects.toThrow(EngineUnavailable);
    await engine.remove(id, never);
    expect(fake.containers.size).toBe(0);
  });

  it('works again after the daemon restarts', async () => {
    const made = await make();
    await fake.down();
    await expect(engine.find(made.id, never)).rejects.toThrow(EngineUnavailable);
    await fake.up();
    expect(await engine.find(made.id, never)).toEqual(made);
    await fake.restart(0, { stops: true });
    expect(await engine.find(made.id, never)).toEqual({ ...made, running: false });
  });

  it('is not delayed by a hanging stop', async () => {
    const made = await make();
    const other = await engine.create({ ...spec, name: 'lease-l-2' }, never);
    fake.trouble({ call: 'stop', of: made.name, trouble: 'hang' });
    const hanging = engine.stop(made.id, never).catch((error: unknown) => error);
    await engine.stop(other.id, never);
    expect(fake.get(other.id)?.isRunning).toBe(false);
    expect(await hanging).toBeInstanceOf(EngineUnavailable);
  });
});

describe('the response of a docker engine', () => {
  let server: Server | undefined;

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  const open = async (scheme: string, answer: RequestListener): Promise<DockerEngine> => {
    server = createServer(answer).listen(0, '127.0.0.1');
    await new Promise((resolve) => server!.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    return new DockerEngine(`${scheme}://127.0.0.1:${port}`, CAPS, 5_000);
  };

  it.each(['tcp', 'http'])('is reached by %s', async (scheme) => {
    const engine = await open(scheme, (request, response) => {
      response.end(request.url!.startsWith('/containers/json?') ? '[]' : '{}');
    });
    expect(await engine.list('lease.id', never)).toEqual([]);
  });

  it('is not trusted when it lists unrequested containers', async () => {
    const listed = { Id: 'a'.repeat(64), Names: ['/nginx'], Created: 1, State: 'running', Labels: null };
    const engine = await open('tcp', (_, response) => void response.end(JSON.stringify([listed])));
    expect(await engine.list('lease.id', never)).toEqual([]);
  });

  it('is cut when it is too long', async () => {
    const engine = await open('tcp', (_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    await expect(engine.list('lease.id', never)).rejects.toThrow('It answers with more than 8388608 bytes.');
  });

  it.each(['<html>Welcome</html>', '{"Id":7}', '[{"Id":"x"}]', ''])(
    'is an error when it is %j',
    async (said) => {
      const engine = await open('tcp', (_, response) => void response.end(said));
      await expect(engine.find('a'.repeat(64), never)).rejects.toThrow(EngineUnavailable);
      await expect(engine.list('lease.id', never)).rejects.toThrow(EngineUnavailable);
    },
  );

  it('does not mean a container is gone when the server knows no containers at all', async () => {
    const id = 'a'.repeat(64);
    const engine = await open('tcp', (_, response) => {
      response.writeHead(404).end('{"message":"page not found"}');
    });
    for (const ask of [
      () => engine.find(id, never),
      () => engine.named('lease-l-1', never),
      () => engine.stop(id, never),
      () => engine.remove(id, never),
      () => engine.create(spec, never),
    ])
      await expect(ask()).rejects.toThrow(EngineUnavailable);
  });

  it('is not followed to another address', async () => {
    const asked: string[] = [];
    const engine = await open('http', (request, response) => {
      asked.push(request.url!);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await expect(engine.list('lease.id', never)).rejects.toThrow(EngineUnavailable);
    expect(asked).toHaveLength(1);
  });

  it.each(['ssh://host', 'localhost', 'unix://relative.sock', 'tcp://', ''])('is rejected at %j', (host) => {
    expect(() => new DockerEngine(host, CAPS)).toThrow(
      `DOCKER_HOST is "${host}": expected unix:///path/to/the.sock, tcp://host:port, http://… or https://….`,
    );
  });

  it('belongs to another engine when DOCKER_HOST differs', async () => {
    const hosts = ['tcp://a:2375', 'http://a:2375/', 'tcp://b:2375', 'tcp://a:2376', 'unix:///a.sock'];
    const places = await Promise.all(hosts.map((host) => new DockerEngine(host, CAPS).place()));
    const [first, same, ...others] = places;
    expect(same).toBe(first);
    expect(new Set([first, ...others]).size).toBe(4);
    expect(first).toMatch(/^[\da-f]{16}$/);
  });
});
