import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { reachOf, type Reach } from './addresses.js';
import { refusal } from './service-url.js';

/** A name resolved to an address that must not be called. */
export class RefusedAddressError extends Error {}

/**
 * Resolves a name for one connection and refuses it if one of its addresses must not be called. The connection uses the checked
 * address without a second lookup, which prevents DNS rebinding.
 */
export function pinnedLookup(
  reaches: ReadonlySet<Reach>,
  lookup: LookupFunction = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, answer) => {
      if (error) return callback(error, []);
      const addresses = answer as LookupAddress[];
      const refused = addresses.find(({ address }) => !reaches.has(reachOf(address)));
      if (refused) {
        const why = `${refused.address}, which ${refusal(reachOf(refused.address))}`;
        return callback(new RefusedAddressError(`${hostname} leads to ${why}`), []);
      }
      const [first] = addresses;
      if (!first) return callback(new Error(`${hostname} has no address`), []);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
