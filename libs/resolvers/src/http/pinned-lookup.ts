import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { reachOf, type Reach } from './addresses.js';
import { refusal } from './service-url.js';

/** A name led to an address that must not be asked. */
export class RefusedAddressError extends Error {}

/**
 * Looks a name up for one connection, and refuses the name when one of its addresses must not be asked. The connection is made to
 * what was looked at here; the name is not asked a second time, so it cannot answer otherwise then.
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
