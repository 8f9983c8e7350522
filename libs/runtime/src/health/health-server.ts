import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../metrics/metrics.js';
import type { HealthBook } from './health.js';

/** Serves health and metrics for a process that has no other HTTP server. */
export class HealthServer {
  private readonly server: Server;

  constructor(
    private readonly book: HealthBook,
    private readonly metrics: Metrics,
  ) {
    this.server = createServer((request, response) => {
      const [path = '/'] = (request.url ?? '/').split('?');
      this.answer(path, response).catch((error: unknown) => {
        send(response, 500, 'text/plain', `${String(error)}\n`);
      });
    });
  }

  async start(host: string, port: number): Promise<string> {
    await once(this.server.listen(port, host), 'listening');
    const { port: actual } = this.server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close().closeAllConnections();
    await closed;
  }

  private async answer(path: string, response: ServerResponse): Promise<void> {
    switch (path) {
      case '/livez':
        return sendHealth(response, this.book.alive());
      case '/readyz':
        return sendHealth(response, await this.book.ready());
      case '/metrics':
        return send(response, 200, this.metrics.contentType, await this.metrics.text());
      default:
        return send(response, 404, 'text/plain', 'Only /livez, /readyz and /metrics are here.\n');
    }
  }
}

function sendHealth(response: ServerResponse, health: { ok: boolean; why: readonly string[] }): void {
  send(response, health.ok ? 200 : 503, 'application/json', JSON.stringify(health));
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}
