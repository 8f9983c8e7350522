import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The content of a call, and its response. */
export interface Call {
  readonly ids: string[];
  readonly type: string;
  readonly headers: IncomingMessage['headers'];
  readonly response: ServerResponse;
}

export type Behave = (call: Call) => void;

/** A service of another team that knows owners, as well behaved as a test wants. */
export class OwnerService {
  readonly calls: Call[] = [];
  behave: Behave = (call) => answer(call, { alive: call.ids });

  private constructor(
    private readonly server: Server,
    readonly port: number,
    readonly url: string,
  ) {}

  static async start(tls?: { cert: string; key: string }): Promise<OwnerService> {
    const server = tls ? createSecureServer(tls) : createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}/owners`;
    const service = new OwnerService(server, port, url);
    server.on('request', (request, response) => void service.take(request, response));
    server.on('clientError', (_error, socket) => socket.destroy());
    return service;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { type: string; ids: string[] };
    const call = { ...body, headers: request.headers, response };
    this.calls.push(call);
    this.behave(call);
  }
}

/** A complete answer: an omitted list is empty. */
export function answer({ response }: Call, lists: object): void {
  send(response, JSON.stringify({ alive: [], gone: [], unknown: [], ...lists }));
}

export function send(response: ServerResponse, body: string | Buffer, type = 'application/json'): void {
  response.setHeader('content-type', type);
  response.end(body);
}
