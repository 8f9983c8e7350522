// A sandboxed handler; `do` in its payload names what it does.
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

class UnrecoverableError extends Error {}
class OddlyNamed extends UnrecoverableError {
  name = 'OddlyNamed';
}

const ways = {
  describe: async (payload, { id, kind, attempt, owners, fence, signal }) => ({
    payload,
    isDate: payload.at instanceof Date,
    run: { id, kind, attempt, owners, fence, isAborted: signal.aborted },
    pid: process.pid,
    flags: process.execArgv,
  }),
  tell: async (_, run) => {
    run.log.log('A line.', { n: 1 });
    run.log.warn(() => 'what');
    await run.progress(10);
    const circle = {};
    circle.self = circle;
    await run.progress(circle);
    // Not awaited.
    void run.progress({ done: 100 });
    return 'told';
  },
  /** Sends its worker an invalid message. */
  babble: async () => {
    const words = [
      null,
      'a text',
      { mooring: 'progress' },
      { mooring: 'progress', value: '{' },
      { mooring: 'log', level: 'loud', said: [] },
      { mooring: 'log', level: 'log' },
      { mooring: 'done', result: 1 },
      { mooring: 'failed' },
    ];
    for (const word of words) process.send(word);
    return 'said';
  },
  nothing: async () => undefined,
  unsendable: async () => 1n,
  fail: async () => {
    throw new RangeError('Too odd.');
  },
  failWithText: async () => {
    // oxlint-disable-next-line typescript/only-throw-error -- what a handler might do
    throw 'only a text';
  },
  giveUp: async () => {
    throw new OddlyNamed('Never again.');
  },
  crash: () => {
    setTimeout(() => {
      throw new Error('This error is not caught.');
    });
    return pause(3_600_000);
  },
  exit: async ({ code }) => process.exit(code),
  dieBy: ({ signal }) => {
    process.kill(process.pid, signal);
    return pause(3_600_000);
  },
  hangUp: () => {
    process.disconnect();
    return pause(3_600_000);
  },
  busy: async ({ grandchild }, run) => {
    await run.progress({ pid: process.pid, grandchild });
    for (;;);
  },
  wait: async ({ grandchild }, { signal, progress }) => {
    await progress({ pid: process.pid, grandchild });
    // A listener alone does not keep a process alive; the channel to the worker does.
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    const { name, message } = signal.reason;
    return { name, message };
  },
  /** Starts a process of its own, which it never stops, and continues with `next`. */
  spawn: async ({ next }, run) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    return ways[next]({ grandchild: child.pid }, run);
  },
  /** Whether a process with that id is running. */
  isThere: async ({ pid }) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  },
  slowGoodbye: async () => {
    process.once('exit', () => {
      for (;;);
    });
    return process.pid;
  },
};

export default (payload, run) => ways[payload.do](payload, run);
