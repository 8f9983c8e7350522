import type { Cluster, Redis } from 'ioredis';
import type { Socket } from 'node:net';

/**
 * Commands that are sent in one turn of the event loop go in one write, so many at most: a write for each costs a busy
 * process a fifth of its time; one write for all keeps the store waiting for work while they are put together. A
 * Cluster's client keeps its connections to itself.
 */
export function joinWrites(redis: Redis | Cluster, atMost: number): void {
  if (redis.isCluster) return;
  const client = redis as unknown as { stream?: Socket };
  const joinCurrent = (): void => {
    if (client.stream) join(client.stream, atMost);
  };
  joinCurrent();
  // A connection that was lost comes back with another socket.
  redis.on('connect', joinCurrent);
}

const joined = new WeakSet<Socket>();

function join(socket: Socket, atMost: number): void {
  if (joined.has(socket)) return;
  joined.add(socket);
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let held = 0;
  const letGo = (): void => {
    if (held === 0) return;
    held = 0;
    socket.uncork();
  };
  socket.write = (...args: unknown[]): boolean => {
    if (held === 0) {
      socket.cork();
      process.nextTick(letGo);
    }
    held += 1;
    const isBelowMark = write(...args);
    if (held >= atMost) letGo();
    return isBelowMark;
  };
}
