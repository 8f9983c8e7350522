import 'reflect-metadata';
import { SweepBook, Sweeper, type SweepRecord } from '#nestjs';
import { NestLog, refuse, runApp, type Runtime } from '#runtime';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JanitorEnv } from './janitor-env.js';
import { JanitorModule } from './janitor.module.js';
import { SWEEP_KINDS } from './sweep-kinds.js';

const USAGE =
  `Name a sweep: npm run sweep -- ${SWEEP_KINDS.join('|')} [--dry-run] [--force] [--acknowledge]\n` +
  'Exit code 0: done. 1: failed, or another process runs this sweep. 3: tripped, nothing was removed.';
const OPTIONS = ['--dry-run', '--force', '--acknowledge'];
const TRIPPED = 3;

const [name, ...options] = process.argv.slice(3);
const kind = SWEEP_KINDS.find((each) => each === name) ?? refuse(USAGE);
if (options.some((option) => !OPTIONS.includes(option))) refuse(USAGE);
const order = {
  dryRun: options.includes('--dry-run'),
  force: options.includes('--force'),
  onRequest: true,
};
const acknowledge = options.includes('--acknowledge') && !order.dryRun;

/** Runs one sweep, for an external cron: prints its record and exits. */
await runApp({
  name: 'sweep',
  env: JanitorEnv,
  answers: true,
  async start(runtime, env) {
    const app = await NestFactory.createApplicationContext(await JanitorModule.forOneSweep(runtime, env), {
      logger: new NestLog(runtime.log),
      abortOnError: false,
    });
    setImmediate(() => void work(runtime, app, kind));
    return { app, url: '' };
  },
});

async function work(runtime: Runtime, app: INestApplicationContext, which: string): Promise<void> {
  try {
    if (acknowledge) await app.get(SweepBook).acknowledge(which);
    const record = await app.get(Sweeper).sweep(which, order);
    if (record) process.stdout.write(`${JSON.stringify(record)}\n`);
    else process.stderr.write(`Another process is running the sweep ${which}.\n`);
    await runtime.shutdown.begin('the sweep is over', record ? exitOf(record) : 1);
  } catch (error) {
    process.stderr.write(`The sweep ${which} failed: ${(error as Error).message}\n`);
    await runtime.shutdown.begin('the sweep failed', 1);
  }
}

function exitOf({ state, failed }: SweepRecord): number {
  if (state === 'tripped') return TRIPPED;
  return state === 'done' && failed === 0 ? 0 : 1;
}
