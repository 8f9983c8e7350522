import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import type { CancelOptions, Receipt } from '#lifecycle';
import { root, TestProcess, type Exit } from './process.js';
import { until } from './until.js';

export interface Cancelled {
  readonly receipt: Receipt;
  /** How many commands it sent to the store from when it was told to until it answered. */
  readonly commands: number;
}

/** A process that cancels one owner, and is killed at a point on the way; see fail-point.mjs. */
export class CancellingProcess {
  private readonly process: TestProcess;
  private isStarted = false;
  private answer: Cancelled | undefined;

  constructor(
    storeUrl: string,
    prefix: string,
    failPoint: string,
    cleanUpEveryMs: number,
    env: Readonly<Record<string, string>> = {},
  ) {
    const { PATH, HOME } = process.env;
    const preload = pathToFileURL(`${root}test/support/fail-point.mjs`).href;
    const child = spawn(process.execPath, ['--import', preload, `${root}test/support/canceller.mjs`], {
      env: {
        PATH,
        HOME,
        REDIS_URL: storeUrl,
        MOORING_PREFIX: prefix,
        FAIL_POINT: failPoint,
        CLEAN_UP_EVERY_MS: String(cleanUpEveryMs),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      cwd: root,
    });
    this.process = new TestProcess(child);
    child.on('message', (word: { type: string } & Cancelled) => {
      if (word.type === 'started') this.isStarted = true;
      else this.answer = word;
    });
  }

  async untilReady(): Promise<void> {
    await until(() => {
      if (this.process.hasExited) throw new Error(`It ended: ${this.process.output}`);
      return this.isStarted;
    }, 'it can cancel');
  }

  /** How it ended, and its answer if it lived to give one. */
  async cancel(owner: string, how: CancelOptions): Promise<{ exit: Exit; answer: Cancelled | undefined }> {
    this.process.child.send({ owner, ...how });
    const exit = await this.process.exited;
    return { exit, answer: this.answer };
  }
}
