import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSecrets, troubleWithSignature } from './signature.js';

const field = z.string().transform(readSecrets);
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Published test vector of Standard Webhooks. */
const VECTOR = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const THEN_MS = Number(VECTOR.timestamp) * 1_000;

function trouble(change: Partial<typeof VECTOR> = {}, secrets = SECRET, nowMs = THEN_MS): string | undefined {
  const { id, timestamp, body, signature } = { ...VECTOR, ...change };
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  return troubleWithSignature(headers, Buffer.from(body), field.parse(secrets), nowMs);
}

function hmac(secret: string, text: string, algorithm = 'sha256'): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return createHmac(algorithm, key).update(text).digest('base64');
}

describe('troubleWithSignature', () => {
  it('accepts the published test vector', () => {
    expect(trouble()).toBeUndefined();
  });

  it('accepts any of two secrets and any of several signatures', () => {
    expect(trouble({}, `${OTHER},${SECRET}`)).toBeUndefined();
    expect(trouble({ signature: `v1a,x v1,${hmac(OTHER, 'x')} ${VECTOR.signature}` })).toBeUndefined();
  });

  it.each([
    ['299 s late', 299],
    ['300 s late', 300],
    ['300 s early', -300],
  ])('accepts an event %s', (_what, lateS) => {
    expect(trouble({}, SECRET, THEN_MS + lateS * 1_000)).toBeUndefined();
  });

  it.each([
    ['301 s late: a replay', 301],
    ['six minutes late', 360],
    ['301 s early', -301],
  ])('refuses an event %s', (_what, lateS) => {
    expect(trouble({}, SECRET, THEN_MS + lateS * 1_000)).toMatch(/300 s from now/);
  });

  const signed = `${VECTOR.id}.${VECTOR.timestamp}.${VECTOR.body}`;
  it.each<[string, Partial<typeof VECTOR>]>([
    ['a byte of its body was changed', { body: '{"test": 2432232315}' }],
    ['its JSON was serialised again', { body: JSON.stringify(JSON.parse(VECTOR.body)) }],
    ['its id was changed', { id: 'msg_other' }],
    ['its timestamp was changed', { timestamp: '1614265331' }],
    [
      'the boundary between id and timestamp was moved',
      { id: `${VECTOR.id}.${VECTOR.timestamp}`, timestamp: '1614265330' },
    ],
    ['it was signed with an unknown secret', { signature: `v1,${hmac(OTHER, signed)}` }],
    ['it was signed with another algorithm', { signature: `v1,${hmac(SECRET, signed, 'sha1')}` }],
    ['its signature names another version', { signature: VECTOR.signature.replace('v1', 'v0') }],
    ['its signature has no version', { signature: VECTOR.signature.slice(3) }],
    ['its signature is truncated', { signature: VECTOR.signature.slice(0, -4) }],
    ['its signature is empty', { signature: '' }],
    ['its signature has no digest', { signature: 'v1,' }],
    ['its signature follows too many others', { signature: `${'v1,x '.repeat(16)}${VECTOR.signature}` }],
  ])('refuses an event when %s', (_what, change) => {
    expect(trouble(change)).toMatch(/matches none of the secrets/);
  });

  it.each(['', 'now', '1614265330.5', '-1614265330', '0x60380000', ' 1614265330'])(
    'refuses the timestamp %j',
    (timestamp) => {
      expect(trouble({ timestamp })).toMatch(/number of seconds/);
    },
  );

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('refuses an event without %s', (name) => {
    const all = { 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' };
    const headers = Object.fromEntries(Object.entries(all).filter(([key]) => key !== name));
    expect(troubleWithSignature(headers, Buffer.from(''), field.parse(SECRET), 0)).toMatch(/Sign the event/);
  });
});

describe('readSecrets', () => {
  it.each<[string, RegExp]>([
    ['secret', /entry 1: expected whsec_/],
    [`${SECRET},whsec_c2hvcnQ=`, /entry 2: .*24 to 64 bytes/],
    [`whsec_${Buffer.alloc(65).toString('base64')}`, /24 to 64 bytes/],
    [`${SECRET},${OTHER},${SECRET}`, /one secret, or two/],
  ])('rejects %s without repeating it', (text, message) => {
    const messages = field.safeParse(text).error?.issues.map((issue) => issue.message) ?? [];
    expect(messages).toEqual([expect.stringMatching(message)]);
    expect(messages.join()).not.toContain('c2hvcnQ');
  });
});
