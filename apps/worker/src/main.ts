import 'reflect-metadata';
import { Consumption, KindRegistry, RunningJobs } from '#nestjs';
import { HealthServer, NestLog, runApp } from '#runtime';
import { NestFactory } from '@nestjs/core';
import { showRuns } from './show-runs.js';
import { WorkerEnv } from './worker-env.js';
import { WorkerModule } from './worker.module.js';

await runApp({
  name: 'worker',
  env: WorkerEnv,
  async start(runtime, env) {
    const server = new HealthServer(runtime.health, runtime.metrics);
    const url = await server.start(env.HOST, env.HEALTH_PORT);
    runtime.shutdown.addLast({ name: 'the health server', run: () => server.stop() });

    const app = await NestFactory.createApplicationContext(await WorkerModule.with(runtime, env), {
      logger: new NestLog(runtime.log),
      abortOnError: false,
    });
    showRuns(runtime.metrics, app.get(RunningJobs), app.get(KindRegistry));
    const consumption = app.get(Consumption);
    runtime.health.add('the check of the queues', async () => {
      const stuck = await consumption.stuckQueues();
      return stuck.length > 0 ? `jobs are waiting but none is taken from ${stuck.join(', ')}` : undefined;
    });
    return { app, url };
  },
});
