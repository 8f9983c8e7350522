import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { Connection, type Shared } from './connection.js';

/**
 * All connections of the server, up to a limit. Above it, the connection that has waited longest for its client is closed, so
 * silent clients cannot keep others out.
 */
export class Connections {
  /** Ordered by last request, oldest first. */
  private readonly open = new Map<Socket, Connection>();

  private readonly shared: Shared;

  constructor(
    private readonly limit: number,
    answer: RequestListener,
  ) {
    this.shared = { answer, waiting: 0 };
  }

  add(socket: Socket): void {
    const connection = new Connection(socket, this.shared);
    if (this.open.size >= this.limit && !this.makeRoom()) return connection.close();
    this.open.set(socket, connection);
    socket.once('close', () => this.open.delete(socket));
  }

  /** Undefined if the connection was refused. */
  of(socket: Socket): Connection | undefined {
    return this.open.get(socket);
  }

  /** Moves the connection to the end of the order, because a request arrived on it. */
  touch(socket: Socket): Connection | undefined {
    const connection = this.open.get(socket);
    if (connection && this.open.delete(socket)) this.open.set(socket, connection);
    return connection;
  }

  private makeRoom(): boolean {
    for (const [socket, connection] of this.open) {
      if (!connection.waitsForClient) continue;
      this.open.delete(socket);
      connection.close();
      return true;
    }
    return false;
  }
}
