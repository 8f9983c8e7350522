import type { Socket } from 'node:net';

import { BROKEN, ClientSocket, NOTHING_YET } from './client-socket.js';
import { FdTable } from './fd-table.js';
import type { LinearMemory } from './linear-memory.js';
import type { HostImports } from './valkey-wasm.js';

const READABLE = 1;
const WRITABLE = 2;
const FULL = '-ERR max number of clients reached\r\n';

/** Every socket of one server, and what Valkey may ask of them. */
export class HostSockets {
  private readonly fds = new FdTable<ClientSocket | 'listener'>();
  private readonly waiting: number[] = [];
  private unflushed: ClientSocket[] = [];

  constructor(private readonly wake: () => void) {}

  adopt(socket: Socket): void {
    const client = new ClientSocket(socket, this.wake, (writer) => this.unflushed.push(writer));
    const fd = this.fds.open(client);
    if (fd === undefined) {
      client.write(Buffer.from(FULL));
      return client.close();
    }
    this.waiting.push(fd);
    this.wake();
  }

  /** Sends what was written since the last time. */
  flush(): void {
    if (this.unflushed.length === 0) return;
    for (const client of this.unflushed) client.flush();
    this.unflushed = [];
  }

  close(): void {
    for (const entry of this.fds.entries()) if (entry !== 'listener') entry.close();
  }

  imports(memory: LinearMemory): HostImports {
    return {
      socket: () => this.fds.open('listener') ?? BROKEN,
      // The process listens already: the port is known to be free before the wasm is loaded.
      listen: () => 0,
      accept: () => this.waiting.shift() ?? NOTHING_YET,
      read: (fd, pointer, length) => this.client(fd)?.read(memory.slice(pointer, length)) ?? BROKEN,
      write: (fd, pointer, length) => this.client(fd)?.write(memory.slice(pointer, length)) ?? BROKEN,
      close: (fd) => {
        this.client(fd)?.close();
        this.fds.close(fd);
      },
      poll: (interest, count, fired, max) => this.poll(memory.words, interest >>> 2, count, fired >>> 2, max),
    };
  }

  /** Both lists are pairs of words: a file descriptor, and what is wanted of it or ready on it. */
  private poll(words: Int32Array, interest: number, count: number, fired: number, max: number): number {
    let found = 0;
    for (let i = 0; i < count && found < max; i++) {
      const fd = words[interest + i * 2]!;
      const ready = this.ready(fd, words[interest + i * 2 + 1]!);
      if (ready === 0) continue;
      words[fired + found * 2] = fd;
      words[fired + found * 2 + 1] = ready;
      found++;
    }
    return found;
  }

  private ready(fd: number, wanted: number): number {
    const entry = this.fds.get(fd);
    if (!entry) return 0;
    if (entry === 'listener') return this.waiting.length > 0 ? READABLE : 0;
    const readable = wanted & READABLE && entry.isReadable ? READABLE : 0;
    const writable = wanted & WRITABLE && entry.isWritable ? WRITABLE : 0;
    return readable | writable;
  }

  private client(fd: number): ClientSocket | undefined {
    const entry = this.fds.get(fd);
    return entry === 'listener' ? undefined : entry;
  }
}
