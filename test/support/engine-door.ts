import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** What ends a container. */
export type EndingCall = 'stop' | 'remove';

const SLOW_MS = 2_000;

/** `refuse`: an error, and the engine hears nothing; `hang`: nor does it, and nobody ever gets an answer; `slow`: it hears of it later. */
export type DoorTrouble = 'refuse' | 'hang' | 'slow';

/** An ending of a container that the engine answered, and when. */
export interface Answered {
  readonly call: EndingCall;
  readonly id: string;
  readonly status: number;
  readonly at: number;
}

/** Stands before an engine: everything goes through, and comes back, but what it was told to keep from one container. */
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

  /** `host`: as `DOCKER_HOST` takes it. */
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

  /** Each time, until it is taken back. */
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
    // In one piece: an engine that answers before the rest has come closes the connection.
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
