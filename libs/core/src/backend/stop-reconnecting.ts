/**
 * A client of ioredis that is disconnected while it waits to reconnect says neither that it has ended nor that its commands have failed.
 * One that has never connected says both.
 */
export function stopReconnecting(client: { status: string }): void {
  if (client.status === 'reconnecting') client.status = 'wait';
}
