import type { Socket } from 'node:net';

/**
 * Bytes passed to the parser at once. The parser creates every request in its input before anything else runs. The 64 KiB of
 * one read may hold more than two thousand requests, and closing the connection would not stop them.
 */
const SLICE_BYTES = 1_024;

/** Passes input to the parser of a connection in slices, until the connection is closed or paused. */
export function sliceInput(socket: Socket): void {
  const parse = socket.listeners('data').at(-1) as ((slice: Buffer) => void) | undefined;
  if (!parse)
    throw new Error('The HTTP parser of this Node version is not supported: its input cannot be limited.');
  socket.removeListener('data', parse);
  socket.on('data', (read: Buffer) => {
    for (let at = 0; at < read.length && !socket.destroyed; at += SLICE_BYTES) {
      // The client has unread answers. Node resumes the socket once the client reads them.
      if (socket.isPaused()) return socket.unshift(read.subarray(at));
      parse.call(socket, read.subarray(at, at + SLICE_BYTES));
    }
  });
}
