import { isIP } from 'node:net';
import { reachOf, type Reach } from './addresses.js';

/** These names of this machine, and no others, may be asked, also without TLS. */
const THIS_MACHINE = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Where a service is asked, and which addresses it may have. */
export interface ServiceUrl {
  readonly url: URL;
  readonly reaches: ReadonlySet<Reach>;
}

/** Reads the address of a service, or says what is wrong with it, never showing what may be a secret. */
export function readServiceUrl(text: string, allowPrivate = false): ServiceUrl | { problem: string } {
  if (!URL.canParse(text)) return { problem: 'url is not a URL' };
  const url = new URL(text);
  const { protocol, hostname, username, password, hash } = url;
  const isThisMachine = THIS_MACHINE.has(hostname);
  const reaches = new Set<Reach>(
    isThisMachine ? ['loopback'] : allowPrivate ? ['public', 'private'] : ['public'],
  );
  if (username || password)
    return { problem: 'url must hold no user and no password; there is "authorization"' };
  if (hash) return { problem: 'url must end before the #' };
  if (protocol !== 'https:' && !(protocol === 'http:' && isThisMachine))
    return { problem: 'url must begin with https://, or http:// for 127.0.0.1, localhost or [::1]' };
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) && !reaches.has(reachOf(address)))
    return { problem: `url: ${address} ${refusal(reachOf(address))}` };
  return { url, reaches };
}

/** Why an address must not be asked, as the end of a sentence that begins with it. */
export function refusal(reach: Reach): string {
  switch (reach) {
    case 'public':
      return 'is not of this machine';
    case 'private':
      return 'is in a private network; "allowPrivate": true would let it be asked';
    case 'loopback':
      return 'is this machine, which is meant by 127.0.0.1, localhost and [::1] only';
    case 'forbidden':
      return 'may never be asked';
  }
}
