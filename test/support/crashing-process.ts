import type { CancelOptions, Receipt } from '#core';
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { root, TestProcess, type Exit } from './process.js';
import { until } from './until.js';

export interface Order {
  readonly cancel?: { readonly owner: string; readonly options: CancelOptions };
  /** Kinds of sweeps, run one after the other. */
  readonly sweep?: readonly string[];
  /** Works at the operations that are open. */
  readonly operate?: true;
  /** Publishes the events in the outbox. */
  readonly relay?: true;
}

/** The report of a process that was not killed. */
export interface Done {
  readonly receipt?: Receipt;
  /** The number of commands it sent to the store for its call. */
  readonly commands: number;
}

/** A process of an application that is killed at a crash point; see fail-point.mjs. */
export class CrashingProcess {
  private isStarted = false;
  private done: Done | undefined;

  private constructor(private readonly process: TestProcess) {
    process.child.on('message', (word: { type: string } & Done) => {
      if (word.type === 'started') this.isStarted = true;
      else this.done = word;
    });
  }

  static start(
    { storeUrl, prefix }: { readonly storeUrl: string; readonly prefix: string },
    failPoint: string,
    more: Readonly<Record<string, string>> = {},
  ): CrashingProcess {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, REDIS_URL: storeUrl, MOORING_PREFIX: prefix, FAIL_POINT: failPoint, ...more };
    const preload = pathToFileURL(`${root}test/support/fail-point.mjs`).href;
    const args = ['--import', preload, `${root}test/support/crashing-app.mjs`];
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
    return new CrashingProcess(
      new TestProcess(spawn(process.execPath, args, { env, stdio: [...stdio], cwd: root })),
    );
  }

  async untilReady(): Promise<void> {
    await until(() => {
      if (this.process.hasExited) throw new Error(`It ended: ${this.process.output}`);
      return this.isStarted;
    }, 'it can begin');
  }

  /** Its exit, and its report if it was not killed. */
  async obey(order: Order): Promise<{ exit: Exit; done: Done | undefined }> {
    await this.untilReady();
    this.process.child.send(order);
    const exit = await this.process.exited;
    const isWell = exit.code === 0 || exit.signal === 'SIGKILL';
    if (!isWell) throw new Error(`It failed: ${this.process.output}`);
    return { exit, done: this.done };
  }
}
