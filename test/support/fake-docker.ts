import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { FakeContainer, type Flavour, type Wanted } from './fake-container.js';

export type Call = 'create' | 'start' | 'stop' | 'kill' | 'remove' | 'inspect' | 'list';

/**
 * A fault of a call. `hang` and `cut` happen before the call has an effect; `hang-after`, `lost` and `truncated` after
 * it: no answer yet, a closed connection, or half an answer.
 */
export type Trouble =
  'hang' | 'hang-after' | 'cut' | 'lost' | 'truncated' | 'error' | { readonly slowMs: number };

export interface TroubleRule {
  readonly trouble: Trouble;
  /** The call that fails; by default every call. */
  readonly call?: Call;
  /** Only for the container with this name or id. */
  readonly of?: string;
  /** How many times; once by default. */
  readonly times?: number;
  /** The probability of each fault; 1 by default. */
  readonly chance?: number;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/;

/** A Docker-compatible engine without containers: HTTP over a unix socket, the answers of real engines, and faults. */
export class FakeDocker {
  /** The existing containers, by id. */
  readonly containers = new Map<string, FakeContainer>();
  /** The removed containers. */
  readonly removed: FakeContainer[] = [];
  readonly images = new Set(
    ['ubuntu', 'debian', 'alpine', 'busybox', 'node'].map((name) => `${name}:latest`),
  );
  /** Each request, as `POST /containers/create`. */
  readonly calls: string[] = [];
  private rules: { rule: TroubleRule; left: number }[] = [];
  private server: Server | undefined;

  private constructor(
    private readonly folder: string,
    readonly flavour: Flavour,
  ) {}

  static async start(flavour: Flavour = 'docker'): Promise<FakeDocker> {
    const fake = new FakeDocker(await mkdtemp(join(tmpdir(), 'fake-docker-')), flavour);
    await fake.up();
    return fake;
  }

  /** In the form of `DOCKER_HOST`. */
  get host(): string {
    return `unix://${this.socket}`;
  }

  get running(): FakeContainer[] {
    return [...this.containers.values()].filter(({ isRunning }) => isRunning);
  }

  /** By name or id. */
  get(nameOrId: string): FakeContainer | undefined {
    return (
      this.containers.get(nameOrId) ?? [...this.containers.values()].find(({ name }) => name === nameOrId)
    );
  }

  /** Adds a foreign container. */
  add(name: string, labels: Record<string, string> = {}): FakeContainer {
    const container = new FakeContainer(name, { Image: 'busybox', Labels: labels });
    this.containers.set(container.id, container);
    container.start();
    return container;
  }

  /** Rules apply in order; returns a function that revokes this one. */
  trouble(rule: TroubleRule): () => void {
    const entry = { rule, left: rule.times ?? 1 };
    this.rules.push(entry);
    return () => (this.rules = this.rules.filter((each) => each !== entry));
  }

  calm(): void {
    this.rules = [];
  }

  async up(): Promise<void> {
    this.server = createServer((request, response) => {
      this.meet(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    this.server.listen(this.socket);
    await once(this.server, 'listening');
  }

  /** Stops listening and cuts every call in flight. */
  async down(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** Restarts like a daemon, which leaves containers running unless told to stop them. Returns the stopped ones. */
  async restart(awayMs = 100, { stops = false } = {}): Promise<FakeContainer[]> {
    await this.down();
    const stopped = stops ? this.running : [];
    for (const container of stopped) container.exit(137);
    await pause(awayMs);
    await this.up();
    return stopped;
  }

  async stop(): Promise<void> {
    await this.down();
    await rm(this.folder, { recursive: true, force: true });
  }

  private get socket(): string {
    return join(this.folder, 'docker.sock');
  }

  private async meet(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://here');
    const path = url.pathname.replace(/^\/v1\.\d+(?=\/)/, '');
    this.calls.push(`${request.method} ${path}`);
    const said = await text(request);
    const [, of = ''] = /^\/containers\/([^/]+)/.exec(path) ?? [];
    const call = callOf(request.method!, path);
    const trouble = call && this.takeTrouble(call, this.get(of)?.name ?? url.searchParams.get('name') ?? '');
    if (typeof trouble === 'object') await pause(trouble.slowMs);
    if (trouble === 'hang') return;
    if (trouble === 'cut') return void request.socket.destroy();
    if (trouble === 'error') return send(response, this.refusal(500, 'the engine is not well'));
    const answer = await this.answer(call, of, url, said);
    if (trouble === 'hang-after') return;
    if (trouble === 'lost') return void request.socket.destroy();
    if (trouble === 'truncated') {
      response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': 1_000 });
      response.write('{"Id":"');
      return void setImmediate(() => request.socket.destroy());
    }
    send(response, answer);
  }

  private takeTrouble(call: Call, name: string): Trouble | undefined {
    const id = this.get(name)?.id;
    const entry = this.rules.find(
      ({ rule, left }) =>
        left > 0 &&
        (rule.call ?? call) === call &&
        (rule.of === undefined || rule.of === name || rule.of === id) &&
        Math.random() < (rule.chance ?? 1),
    );
    if (entry) entry.left -= 1;
    return entry?.rule.trouble;
  }

  private async answer(call: Call | undefined, of: string, url: URL, said: string): Promise<Answer> {
    const asked = (name: string): string => url.searchParams.get(name) ?? '';
    if (call === undefined) return this.refusal(404, 'page not found');
    if (call === 'create') return this.create(asked('name'), JSON.parse(said) as Wanted);
    if (call === 'list') return this.list(isTrue(asked('all')), asked('filters'));
    const container = this.resolve(of);
    if (!container) return this.refusal(404, `No such container: ${of}`);
    switch (call) {
      case 'inspect':
        return { status: 200, body: container.inspected(this.flavour) };
      case 'start':
        return { status: container.start() ? 204 : 304 };
      case 'stop':
        return { status: (await container.stop(Number(asked('t') || 10) * 1_000)) ? 204 : 304 };
      case 'kill':
        if (container.isRunning) container.exit(137);
        return { status: 204 };
      case 'remove':
        return this.remove(container, isTrue(asked('force')));
    }
  }

  private create(name: string, wanted: Wanted): Answer {
    const image = wanted.Image.includes(':') ? wanted.Image : `${wanted.Image}:latest`;
    if (!NAME.test(name)) return this.refusal(400, `Invalid container name (${name})`);
    if (!this.images.has(image)) return this.refusal(404, `No such image: ${image}`);
    const holder = this.get(name);
    if (holder && this.flavour === 'podman')
      return this.refusal(
        500,
        `creating container storage: the container name "${name}" is already in use by "${holder.id}"`,
      );
    if (holder)
      return this.refusal(
        409,
        `Conflict. The container name "/${name}" is already in use by container "${holder.id}".`,
      );
    const container = new FakeContainer(name, wanted);
    this.containers.set(container.id, container);
    return { status: 201, body: { Id: container.id, Warnings: [] } };
  }

  private list(all: boolean, filters: string): Answer {
    const { label = [] } = JSON.parse(filters || '{}') as { label?: string[] };
    const found = [...this.containers.values()].filter(
      (container) => (all || container.isRunning) && label.every((each) => container.carries(each)),
    );
    return { status: 200, body: found.map((container) => container.listed()) };
  }

  private remove(container: FakeContainer, force: boolean): Answer {
    if (container.isRunning && !force)
      return this.refusal(409, `You cannot remove a running container ${container.id}.`);
    if (container.isRunning) container.exit(137);
    if (this.containers.delete(container.id)) this.removed.push(container);
    container.removedAt = Date.now();
    return { status: 204 };
  }

  /** By id, name or prefix of the id, in that order. */
  private resolve(of: string): FakeContainer | undefined {
    const begun = [...this.containers.values()].filter(({ id }) => of !== '' && id.startsWith(of));
    return this.get(of) ?? (begun.length === 1 ? begun[0] : undefined);
  }

  private refusal(status: number, message: string): Answer {
    return {
      status,
      body: this.flavour === 'podman' ? { cause: message, message, response: status } : { message },
    };
  }
}

function callOf(method: string, path: string): Call | undefined {
  const [, of, verb] = /^\/containers\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
  if (of === undefined) return undefined;
  if (method === 'POST' && of === 'create') return 'create';
  if (method === 'POST' && (verb === 'start' || verb === 'stop' || verb === 'kill')) return verb;
  if (method === 'DELETE' && !verb) return 'remove';
  if (method === 'GET' && of === 'json') return 'list';
  return method === 'GET' && verb === 'json' ? 'inspect' : undefined;
}

function isTrue(word: string): boolean {
  return word === '1' || word === 'true';
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
