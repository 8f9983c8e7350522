import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** The calls that end a container. */
export type EndingCall = 'stop' | 'remove';

const SLOW_MS = 2_000;

/**
 * `refuse`: the call fails and does not reach the engine; `hang`: it does not reach the engine and gets no answer;
 * `slow`: it reaches the engine later.
 */
export type DoorTrouble = 'refuse' | 'hang' | 'slow';

/** A call that ended a container and was answered by the engine, and its time. */
export interface Answered {
  readonly call: EndingCall;
  readonly id: string;
  readonly status: number;
  readonly at: number;
}

/** A proxy for an engine: passes everything on, except the calls for one container that it was told to fault. */
export class EngineDoor {
  readonly answered: Answered[] = [];
  private readonly troubles = new Map<string, DoorTrouble>();
  private readonly server: Server;

  private constructor(
    private readonly engine: string,
    private readonly folder: string,
  ) {
    this.server = createServer((asked, answer) => {
      this.meet(asked, answer).catch(() => answer.destroy());
    });
  }

  /** In the form of `DOCKER_HOST`. */
  static async open(host: string): Promise<EngineDoor> {
    const folder = await mkdtemp(join(tmpdir(), 'engine-door-'));
    const door = new EngineDoor(socketOf(host), folder);
    door.server.listen(socketOf(door.host));
    await once(door.server, 'listening');
    return door;
  }

  get host(): string {
    return `unix://${join(this.folder, 'docker.sock')}`;
  }

  /** Applies to each call until it is revoked. */
  trouble(trouble: DoorTrouble, call: EndingCall, id: string): () => void {
    const key = `${call} ${id}`;
    this.troubles.set(key, trouble);
    return () => this.troubles.delete(key);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await rm(this.folder, { recursive: true, force: true });
  }

  private async meet(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const ending = endingOf(asked.method!, asked.url!);
    const trouble = ending && this.troubles.get(`${ending.call} ${ending.id}`);
    if (trouble === 'hang') return;
    if (trouble === 'refuse') {
      answer.writeHead(500, { 'content-type': 'application/json' });
      return void answer.end('{"message":"the engine is not well"}');
    }
    if (trouble === 'slow') await pause(SLOW_MS);
    const said = await this.through(asked, answer);
    if (ending) this.answered.push({ ...ending, status: said.statusCode!, at: Date.now() });
    answer.writeHead(said.statusCode!, said.headers);
    await pipeline(said, answer);
  }

  private async through(asked: IncomingMessage, answer: ServerResponse): Promise<IncomingMessage> {
    const { method, url: path, headers } = asked;
    // Sent in one piece: an engine that answers before the rest has arrived closes the connection.
    const body = await buffer(asked);
    const through = request({ socketPath: this.engine, method, path, headers, agent: false });
    answer.once('close', () => through.destroy());
    through.end(body);
    const [said] = (await once(through, 'response')) as [IncomingMessage];
    through.on('error', () => answer.destroy());
    return said;
  }
}

function endingOf(method: string, path: string): { call: EndingCall; id: string } | undefined {
  const [, id, verb] = /\/containers\/([^/?]+)(\/stop)?(?:\?|$)/.exec(path) ?? [];
  if (id === undefined) return undefined;
  if (method === 'DELETE' && !verb) return { call: 'remove', id };
  return method === 'POST' && verb ? { call: 'stop', id } : undefined;
}

function socketOf(host: string): string {
  return host.slice('unix://'.length);
}
