import { describe, expect, it } from 'vitest';
import { readServiceUrl } from './service-url.js';

describe('the address of a service', () => {
  it.each([
    ['https://owners.example/owners?tenant=a', false, ['public']],
    ['https://owners.example:8443/', true, ['public', 'private']],
    ['https://8.8.8.8/', false, ['public']],
    ['https://10.0.0.7/', true, ['public', 'private']],
    ['http://127.0.0.1:3000/', false, ['loopback']],
    ['http://localhost:3000/', false, ['loopback']],
    ['http://[::1]:3000/', true, ['loopback']],
    ['https://localhost/', false, ['loopback']],
  ])('may be %s (private addresses allowed: %s)', (text, allowPrivate, reaches) => {
    const service = readServiceUrl(text, allowPrivate);
    expect(service).toEqual({ url: new URL(text), reaches: new Set(reaches) });
  });

  it.each([
    ['owners.example/owners', /is not a URL/],
    ['https://', /is not a URL/],
    ['ftp://owners.example/', /must begin with https/],
    ['file:///etc/passwd', /must begin with https/],
    ['http://owners.example/', /must begin with https/],
    ['http://localhost.example/', /must begin with https/],
    ['http://127.0.0.2/', /must begin with https/],
    ['https://u@owners.example/', /no user and no password/],
    ['https://:hush@owners.example/', /no user and no password/],
    ['https://127.0.0.1@evil.example/', /no user and no password/],
    ['https://owners.example/#top', /before the #/],
    ['https://10.0.0.7/', /10.0.0.7 is in a private network; "allowPrivate": true/],
    ['https://[fd12::1]/', /fd12::1 is in a private network/],
    ['https://127.0.0.2/', /127.0.0.2 is this machine/],
    ['https://169.254.169.254/latest/meta-data', /169.254.169.254 may never be asked/],
    ['https://[::ffff:127.0.0.1]/', /may never be asked/],
    ['https://0xa9fea9fe/', /169.254.169.254 may never be asked/],
    ['https://2852039166/', /169.254.169.254 may never be asked/],
    ['https://0/', /0.0.0.0 may never be asked/],
  ])('may not be %s', (text, problem) => {
    expect(readServiceUrl(text)).toEqual({ problem: expect.stringMatching(problem) as string });
    expect(JSON.stringify(readServiceUrl(text))).not.toContain('hush');
  });

  it.each(['https://169.254.169.254/', 'https://[fe80::1]/', 'https://127.0.0.2/', 'http://10.0.0.7/'])(
    'may not be %s, even if private networks are allowed',
    (text) => expect(readServiceUrl(text, true)).toHaveProperty('problem'),
  );
});
