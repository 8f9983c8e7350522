import { BlockList, isIP } from 'node:net';

/** Class of an address. Requests to forbidden addresses are never sent. */
export type Reach = 'public' | 'private' | 'loopback' | 'forbidden';

/** Separate lists per family, because a rule for IPv4-mapped IPv6 addresses would match every IPv4 address. */
interface Addresses {
  readonly v4: BlockList;
  readonly v6: BlockList;
}

const LOOPBACK = addresses(['127.0.0.0/8'], ['::1/128']);

/** Link-local, multicast and unspecified addresses, and metadata services of clouds. */
const FORBIDDEN = addresses(
  ['0.0.0.0/8', '169.254.0.0/16', '100.100.100.200/32', '192.0.0.192/32', '224.0.0.0/4', '240.0.0.0/4'],
  [
    '::/128',
    'fe80::/10',
    'fec0::/10',
    'ff00::/8',
    'fd00:ec2::/32',
    'fd20:ce::254/128',
    // Unspecified, loopback and link-local IPv4 addresses, mapped into IPv6 or translated by NAT64.
    ...['::ffff:', '64:ff9b::'].flatMap((into) => [
      `${into}0:0/104`,
      `${into}7f00:0/104`,
      `${into}a9fe:0/112`,
    ]),
  ],
);

const PRIVATE = addresses(
  [
    '10.0.0.0/8',
    '100.64.0.0/10',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
  ],
  // Includes every IPv6 form that embeds an IPv4 address.
  [
    '::/96',
    '::ffff:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    'fc00::/7',
  ],
);

/** Text that is not an address is forbidden. */
export function reachOf(address: string): Reach {
  const family = isIP(address);
  if (family === 0 || holds(FORBIDDEN, address, family)) return 'forbidden';
  if (holds(LOOPBACK, address, family)) return 'loopback';
  return holds(PRIVATE, address, family) ? 'private' : 'public';
}

/** An IPv4-mapped IPv6 address is checked against both lists. */
function holds({ v4, v6 }: Addresses, address: string, family: number): boolean {
  if (family === 4) return v4.check(address, 'ipv4');
  return v6.check(address, 'ipv6') || v4.check(address, 'ipv6');
}

function addresses(v4: readonly string[], v6: readonly string[]): Addresses {
  return { v4: blockList(v4, 'ipv4'), v6: blockList(v6, 'ipv6') };
}

function blockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, bits] = range.split('/') as [string, string];
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
