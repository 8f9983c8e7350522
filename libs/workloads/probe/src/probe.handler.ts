import { Handler, Handles, type Payload, type Run } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { probe } from './probe.kinds.js';

const STEPS = 10;
const CHUNK = Buffer.alloc(64 * 1024, 'mooring ');

/**
 * Runs for a while and reports progress; stores an artifact, fails, ignores its abort or kills its process,
 * as its payload says.
 */
@Injectable()
@Handles(probe)
export class ProbeHandler extends Handler<typeof probe> {
  async handle(payload: Payload<typeof probe>, run: Run): Promise<{ ranMs: number; attempt: number }> {
    const began = performance.now();
    for (let step = 1; payload.ms > 0 && step <= STEPS; step += 1) {
      await pause(payload.ms / STEPS, undefined, payload.ignoreAbort ? {} : { signal: run.signal });
      await run.progress((step * 100) / STEPS);
    }
    if (payload.artifactBytes !== undefined)
      await run.artifacts.put('probe.bin', bytes(payload.artifactBytes));
    if (payload.exit) process.kill(process.pid, 'SIGKILL');
    if (run.attempt <= payload.failTimes) throw new Error(`Told to fail attempt ${run.attempt}.`);
    run.log.debug('Ran to its end.');
    return { ranMs: Math.round(performance.now() - began), attempt: run.attempt };
  }
}

async function* bytes(count: number): AsyncGenerator<Buffer> {
  for (let left = count; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left);
}
