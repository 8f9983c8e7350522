import 'reflect-metadata';
import { runApp } from '#runtime';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddressInfo } from 'node:net';
import { ApiEnv } from './api.env.js';
import { createApi } from './http.js';

await runApp({
  name: 'api',
  env: ApiEnv,
  async start(runtime, env) {
    const app = await createApi(runtime, env);
    await app.listen(env.PORT, env.HOST);
    runtime.health.whenDraining(() => closeConnections(app));
    const { port } = app.getHttpServer().address() as AddressInfo;
    return { app, url: `http://${env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST}:${port}` };
  },
});

/** Longer than any answer takes. */
const LAST_ANSWERS_MS = 2_500;

/** A connection on which nobody asks anything would hold up the end; the server closes only those that have asked. */
function closeConnections(app: NestFastifyApplication): void {
  setTimeout(() => app.getHttpServer().closeAllConnections(), LAST_ANSWERS_MS).unref();
}
