import 'reflect-metadata';
import { runApp } from '#runtime';
import type { AddressInfo } from 'node:net';
import { ApiEnv } from './api.env.js';
import { createApi } from './http.js';

await runApp({
  name: 'api',
  env: ApiEnv,
  async start(runtime, env) {
    const app = await createApi(runtime, env);
    await app.listen(env.PORT, env.HOST);
    const { port } = app.getHttpServer().address() as AddressInfo;
    return { app, url: `http://${env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST}:${port}` };
  },
});
