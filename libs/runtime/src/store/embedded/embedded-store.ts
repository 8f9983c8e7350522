import { compiledEntry } from '../compiled-entry.js';
import { startStoreProcess, type StoreProcess } from '../store-process.js';

export interface EmbeddedOptions {
  /** 0, or none, takes any free one. */
  readonly port?: number;
  /** Where the store's few words go: its end, when it was not asked to end. */
  readonly stdio?: 'inherit' | 'ignore';
}

/** Starts a Valkey on 127.0.0.1, in a process of its own that ends with this one. It keeps nothing. */
export function startEmbedded({ port = 0, stdio = 'inherit' }: EmbeddedOptions = {}): Promise<StoreProcess> {
  const entry = compiledEntry('libs/runtime/src/store/embedded/embedded-process.js');
  return startStoreProcess(entry, [String(port)], stdio);
}
