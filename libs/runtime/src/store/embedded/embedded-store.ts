import { compiledEntry } from '../compiled-entry.js';
import { startStoreProcess, type StoreProcess } from '../store-process.js';

/**
 * Starts a Valkey on 127.0.0.1, in a process of its own that ends with this one. It keeps nothing. Port 0 is any free one. Its
 * output is a line when it ends without being asked.
 */
export function startEmbedded({
  port = 0,
  stdio = 'inherit',
}: { readonly port?: number; readonly stdio?: 'inherit' | 'ignore' } = {}): Promise<StoreProcess> {
  const entry = compiledEntry('libs/runtime/src/store/embedded/embedded-process.js');
  return startStoreProcess(entry, [String(port)], stdio);
}
