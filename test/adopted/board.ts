import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Queue } from 'bullmq';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A job as bull-board shows it. */
export interface ShownJob {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly opts: Record<string, unknown>;
  readonly failedReason?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** bull-board next to an application, asked over HTTP as its page does. */
export class Board {
  private constructor(private readonly server: Server) {}

  static async serve(queues: readonly Queue[]): Promise<Board> {
    const serverAdapter = new ExpressAdapter();
    createBullBoard({ queues: queues.map((queue) => new BullMQAdapter(queue)), serverAdapter });
    const server = createServer(serverAdapter.getRouter() as RequestListener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Board(server);
  }

  async jobs(queue: string, status: string): Promise<ShownJob[]> {
    const { body } = await this.call(
      'GET',
      `queues?activeQueue=${queue}&status=${status}&page=1&jobsPerPage=100`,
    );
    const shown = (body['queues'] as { name: string; jobs: ShownJob[] }[]).find(({ name }) => name === queue);
    return shown!.jobs;
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { port } = this.server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/api/${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await response.text();
    return { status: response.status, body: text ? (JSON.parse(text) as Record<string, unknown>) : {} };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
