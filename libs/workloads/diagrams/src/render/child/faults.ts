/** What V8 and Emscripten report when a stack, a string, an array or a memory is full. */
const FULL =
  /call stack|invalid (?:string|array|typed array|array buffer) length|allocat|out of memory|maximum size exceeded|\bOOM\b|enlarge memory/i;

export function isOutOfMemory(error: unknown): boolean {
  return (error instanceof RangeError || isTrap(error)) && FULL.test(error.message);
}

/** WebAssembly stopped: a fault of the renderer, or damage that an earlier source did. Another process may draw it. */
export function isTrap(error: unknown): error is Error {
  return error instanceof Error && error.name === 'RuntimeError';
}
