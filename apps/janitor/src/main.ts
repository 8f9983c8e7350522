import 'reflect-metadata';
import { HealthServer, NestLog, runApp } from '#runtime';
import { NestFactory } from '@nestjs/core';
import { JanitorEnv } from './janitor-env.js';
import { JanitorModule } from './janitor.module.js';

await runApp({
  name: 'janitor',
  env: JanitorEnv,
  async start(runtime, env) {
    const server = new HealthServer(runtime.health, runtime.metrics);
    const url = await server.start(env.HOST, env.HEALTH_PORT);
    runtime.shutdown.addLast({ name: 'the health server', run: () => server.stop() });

    const app = await NestFactory.createApplicationContext(await JanitorModule.with(runtime, env), {
      logger: new NestLog(runtime.log),
      abortOnError: false,
    });
    return { app, url };
  },
});
