import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Drawer } from './drawer.js';

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  render(answer: number, at: number, length: number): void;
  __wbindgen_add_to_stack_pointer(by: number): number;
  __wbindgen_malloc(length: number): number;
  __wbindgen_free(at: number, length: number): void;
}

interface Wasm {
  instantiate(code: Uint8Array, imports: object): Promise<{ instance: { exports: unknown } }>;
}

/** What the package's own script does, which only a bundler can load. */
export async function load(): Promise<Drawer> {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: Wasm };
  const code = await readFile(createRequire(import.meta.url).resolve('svgbob-wasm/svgbob_wasm_bg.wasm'));
  const wasm = (await WebAssembly.instantiate(code, {})).instance.exports as Exports;

  const draw = (source: string): string => {
    const text = Buffer.from(source);
    const at = wasm.__wbindgen_malloc(text.length);
    new Uint8Array(wasm.memory.buffer).set(text, at);
    const answer = wasm.__wbindgen_add_to_stack_pointer(-16);
    wasm.render(answer, at, text.length);
    const [from, length] = new Int32Array(wasm.memory.buffer, answer, 2) as unknown as [number, number];
    const svg = Buffer.from(wasm.memory.buffer, from, length).toString();
    wasm.__wbindgen_add_to_stack_pointer(16);
    wasm.__wbindgen_free(from, length);
    return svg;
  };
  return { draw };
}
