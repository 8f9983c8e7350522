import 'reflect-metadata';
import { runApp } from '#runtime';
import type { AddressInfo } from 'node:net';
import { ApiEnv } from './api-env.js';
import { createApi } from './http.js';
import { LastAnswers } from './last-answers.js';

await runApp({
  name: 'api',
  hasCallers: true,
  env: ApiEnv,
  async start(runtime, env) {
    const app = await createApi(runtime, env);
    const lastAnswers = new LastAnswers(app);
    await app.listen(env.PORT, env.HOST);
    runtime.shutdown.add({ name: 'the last answers', run: () => lastAnswers.finish() });
    const { port } = app.getHttpServer().address() as AddressInfo;
    return { app, url: `http://${env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST}:${port}` };
  },
});
