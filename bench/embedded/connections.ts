import { connect } from 'node:net';

import type { Store } from './stores.js';

const CONNECTIONS = 20_000;

/** How many of 20,000 connections, opened one after the other, got an answer to their PING. */
export async function answeredConnections(
  store: Store,
): Promise<{ asked: number; answered: number; ms: number }> {
  const start = performance.now();
  let answered = 0;
  for (let i = 0; i < CONNECTIONS; i++) {
    if (!(await isAnswered(store.port))) break;
    answered++;
  }
  return { asked: CONNECTIONS, answered, ms: Math.round(performance.now() - start) };
}

function isAnswered(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const settle = (isAnswer: boolean) => {
      resolve(isAnswer);
      socket.destroy();
    };
    socket.setTimeout(2_000, () => settle(false));
    socket.on('data', (reply) => settle(reply.toString() === '+PONG\r\n'));
    socket.on('close', () => settle(false));
    socket.on('error', () => settle(false));
  });
}
