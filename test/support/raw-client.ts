import { connect, type Socket } from 'node:net';
import { until } from './until.js';

/** A connection on which a test writes and reads at will. */
export class RawClient {
  received = '';
  isClosed = false;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (text: string) => (this.received += text));
    // A connection that the server cuts is a result, not an error.
    socket.on('error', () => undefined);
    socket.once('close', () => (this.isClosed = true));
  }

  static async connect(url: string): Promise<RawClient> {
    const { hostname: host, port } = new URL(url);
    const client = new RawClient(connect({ host, port: Number(port) }));
    await until(() => !client.socket.connecting, 'the connection is there');
    return client;
  }

  /** Sends a text on a connection of its own; returns what came back when the server has closed it. */
  static async ask(url: string, text: string): Promise<string> {
    const client = await RawClient.connect(url);
    client.write(text);
    await client.untilClosed();
    return client.received;
  }

  write(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Stops reading: incoming data stays unread. */
  stopReading(): void {
    this.socket.pause();
  }

  async untilClosed(withinMs?: number): Promise<void> {
    await until(() => this.isClosed, 'the server has closed the connection', withinMs);
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The problem in an answer, with its status. */
export function problemIn(answer: string): { status: number; type: string; code: unknown } {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return {
    status: Number(head.split(' ')[1]),
    type: /content-type: ([^;\s]+)/i.exec(head)?.[1] ?? '',
    code: (JSON.parse(body) as Record<string, unknown>)['code'],
  };
}
