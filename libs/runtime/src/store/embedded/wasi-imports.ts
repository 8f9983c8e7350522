import type { LinearMemory } from './linear-memory.js';
import type { WallClock } from './wall-clock.js';

/** How the wasm says that it ends itself: SHUTDOWN is code 0, a failed start is 1. */
export class ValkeyExit extends Error {
  constructor(readonly code: number) {
    super(`Valkey ended itself with code ${code}`);
  }
}

const DONE = 0;
const BAD_FD = 8;
export const NOT_HERE = 52;

const REALTIME = 0;
const TWO_TO_32 = 2 ** 32;

/**
 * The part of WASI that Valkey lives on: clocks, its log and its exit. There is no file system, no environment and no
 * argument. Own code because node:wasi prints a warning on every start and hands the log straight to stdout.
 */
export function wasiImports(memory: LinearMemory, clock: WallClock, log: (text: string) => void) {
  return {
    clock_time_get(id: number, _precision: bigint, pointer: number): number {
      const ms = id === REALTIME ? clock.now() : performance.now();
      const nanos = Math.floor(ms * 1000) * 1000;
      const high = Math.floor(nanos / TWO_TO_32);
      const { words } = memory;
      const at = pointer >>> 2;
      words[at] = nanos - high * TWO_TO_32;
      words[at + 1] = high;
      return DONE;
    },

    fd_write(_fd: number, vectors: number, count: number, written: number): number {
      const pieces: Uint8Array[] = [];
      for (let i = 0; i < count; i++) {
        const vector = (vectors >>> 0) + i * 8;
        pieces.push(memory.slice(memory.word(vector), memory.word(vector + 4)));
      }
      const text = Buffer.concat(pieces);
      log(text.toString());
      memory.setWord(written, text.length);
      return DONE;
    },

    proc_exit(code: number): never {
      throw new ValkeyExit(code);
    },

    environ_sizes_get(count: number, size: number): number {
      memory.setWord(count, 0);
      memory.setWord(size, 0);
      return DONE;
    },

    environ_get: () => DONE,
    sched_yield: () => DONE,
    fd_close: () => DONE,
    fd_prestat_get: () => BAD_FD,
    fd_fdstat_get: () => BAD_FD,
  };
}
