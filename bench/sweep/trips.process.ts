import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isGone } from './trips.js';

/*
 * The service that knows the trips: `POST /owners` about many at once, `GET /trips/<id>` about one. Asked over its channel, it
 * says where it is and how often it was called since.
 */

export interface Service {
  readonly url: string;
  readonly calls: number;
}

let calls = 0;
const server = createServer((request, response) => {
  calls += 1;
  answer(request, response).catch(() => response.destroy());
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

process.on('message', () => {
  process.send?.({ url, calls } satisfies Service);
  calls = 0;
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const tripId = /^\/trips\/(\d+)$/.exec(request.url!)?.[1];
  if (tripId !== undefined)
    return say(response, { tripId, status: isGone(tripId) ? 'CANCELLED' : 'PENDING' });
  const { ids } = JSON.parse(await text(request)) as { ids: string[] };
  say(response, { alive: ids.filter((id) => !isGone(id)), gone: ids.filter(isGone), unknown: [] });
}

function say(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}
