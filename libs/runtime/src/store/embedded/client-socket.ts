import type { Socket } from 'node:net';

const UNREAD_LIMIT = 1024 * 1024;
const UNSENT_LIMIT = 1024 * 1024;
const LINGER_MS = 10_000;

/** What a read or a write answers besides a count. */
export const NOTHING_YET = -1;
export const BROKEN = -1;

/** One client's socket, turned from events into what Valkey asks: is there something to read, may I write? */
export class ClientSocket {
  private readonly unread: Buffer[] = [];
  private unreadBytes = 0;
  private offset = 0;
  private ended = false;

  constructor(
    private readonly socket: Socket,
    private readonly wake: () => void,
    private readonly flushLater: (client: ClientSocket) => void,
  ) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('end', () => this.end());
    socket.on('close', () => this.end());
    socket.on('drain', () => this.wake());
    // 'close' follows and tells Valkey; without a listener the error would end the process.
    socket.on('error', () => {});
  }

  get isReadable(): boolean {
    return this.unread.length > 0 || this.ended;
  }

  get isWritable(): boolean {
    // A broken socket is: the write that follows tells Valkey.
    return this.socket.writableLength < UNSENT_LIMIT || !this.socket.writable;
  }

  read(into: Uint8Array): number {
    let count = 0;
    while (count < into.length) {
      const head = this.unread[0];
      if (!head) break;
      const end = Math.min(head.length, this.offset + into.length - count);
      into.set(head.subarray(this.offset, end), count);
      count += end - this.offset;
      this.offset = end;
      if (end === head.length) this.dropHead();
    }
    if (count > 0) return this.taken(count);
    return this.ended ? 0 : NOTHING_YET;
  }

  /** 0 means "later": Valkey keeps the bytes and comes back when the socket is writable again. */
  write(bytes: Uint8Array): number {
    if (!this.socket.writable) return BROKEN;
    if (!this.isWritable) return 0;
    if (this.socket.writableCorked === 0) {
      this.socket.cork();
      this.flushLater(this);
    }
    this.socket.write(Buffer.from(bytes));
    return bytes.length;
  }

  /** Valkey hands a reply over in small pieces; they leave together. */
  flush(): void {
    this.socket.uncork();
  }

  /** Sends what was written, then closes; a peer that takes nothing any more does not keep it open. */
  close(): void {
    this.unread.length = 0;
    this.ended = true;
    this.socket.removeAllListeners('data').removeAllListeners('drain').resume();
    this.socket.setTimeout(LINGER_MS, () => this.socket.destroy());
    this.socket.destroySoon();
  }

  private receive(chunk: Buffer): void {
    this.unread.push(chunk);
    this.unreadBytes += chunk.length;
    if (this.unreadBytes > UNREAD_LIMIT) this.socket.pause();
    this.wake();
  }

  private end(): void {
    if (this.ended) return;
    this.ended = true;
    this.wake();
  }

  private dropHead(): void {
    this.unread.shift();
    this.offset = 0;
  }

  private taken(count: number): number {
    this.unreadBytes -= count;
    if (this.unreadBytes <= UNREAD_LIMIT && this.socket.isPaused()) this.socket.resume();
    return count;
  }
}
