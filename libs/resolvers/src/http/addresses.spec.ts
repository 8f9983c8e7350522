import { describe, expect, it } from 'vitest';
import { reachOf } from './addresses.js';

describe('an address', () => {
  it.each(['8.8.8.8', '1.1.1.1', '9.255.255.255', '172.15.255.255', '172.32.0.0', '2606:4700::1111'])(
    '%s is public',
    (address) => expect(reachOf(address)).toBe('public'),
  );

  it.each([
    '10.0.0.0',
    '10.255.255.255',
    '100.64.0.1',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.2.1',
    '198.19.255.255',
    '203.0.113.7',
    'fc00::1',
    'fd12:3456::1',
    '2002:a00:1::',
    '2001:db8::1',
    // IPv4 addresses, including public ones, written as IPv6.
    '::ffff:8.8.8.8',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '64:ff9b::a00:1',
  ])('%s is private', (address) => expect(reachOf(address)).toBe('private'));

  it.each(['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'])('%s is this machine', (address) =>
    expect(reachOf(address)).toBe('loopback'),
  );

  it.each([
    '0.0.0.0',
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '192.0.0.192',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'fd00:ec2::254',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    '::ffff:0.0.0.0',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    'localhost',
    '127.1',
    '0x7f000001',
    '',
  ])('"%s" is always forbidden', (address) => expect(reachOf(address)).toBe('forbidden'));
});
