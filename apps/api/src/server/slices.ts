import type { Socket } from 'node:net';

/**
 * How many bytes the parser gets at once. It makes a request of everything that it is given before anything else can run: of the
 * 64 KiB that one read may bring, more than two thousand, also after their connection was closed.
 */
const SLICE_BYTES = 1_024;

/** Gives the parser of a connection its bytes in slices, until the connection is closed or Node pauses it. */
export function sliceInput(socket: Socket): void {
  const parse = socket.listeners('data').at(-1) as ((slice: Buffer) => void) | undefined;
  if (!parse) throw new Error('This Node reads HTTP in a way that the api cannot bound.');
  socket.removeListener('data', parse);
  socket.on('data', (read: Buffer) => {
    for (let at = 0; at < read.length && !socket.destroyed; at += SLICE_BYTES) {
      // Answers lie unread: the rest is read when the client has read some.
      if (socket.isPaused()) return socket.unshift(read.subarray(at));
      parse.call(socket, read.subarray(at, at + SLICE_BYTES));
    }
  });
}
