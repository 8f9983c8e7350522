import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';

/** Tolerance for clock difference and delivery time. An older message may be a replay. */
const WINDOW_S = 300;
/** Bounds the comparisons that a sender can cause. */
const MAX_SIGNATURES = 16;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
/** An HMAC-SHA256 (32 bytes) in base64. */
const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;
const FITS_NONE =
  'webhook-signature matches none of the secrets; expected "v1," and the HMAC-SHA256 of "<id>.<timestamp>.<body>" in base64.';

/** Parses `whsec_…,whsec_…`. Error messages never repeat a secret. */
export function readSecrets(text: string, context: z.core.$RefinementCtx): Buffer[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > 2) {
    context.addIssue({ code: 'custom', message: 'expected one secret, or two during a rotation' });
  }
  return entries.map((entry, index) => {
    const secret = Buffer.from(SECRET.exec(entry)?.[1] ?? '', 'base64');
    if (secret.length < 24 || secret.length > 64) {
      const message = `entry ${index + 1}: expected whsec_ and 24 to 64 bytes in base64`;
      context.addIssue({ code: 'custom', message });
    }
    return secret;
  });
}

/**
 * Why the headers alone prove that the message is not validly signed; undefined if the body must be checked.
 */
export function troubleWithHeaders(headers: IncomingHttpHeaders, nowMs: number): string | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    return 'Sign the event: it needs the headers webhook-id, webhook-timestamp and webhook-signature.';
  }
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp must be a number of seconds since 1970.';
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > WINDOW_S) {
    return `webhook-timestamp is more than ${WINDOW_S} s from now. Sign the event again, and check the clock.`;
  }
  return readSignatures(signatures).length === 0 ? FITS_NONE : undefined;
}

/**
 * Why the message is not validly signed (Standard Webhooks); undefined if it is. Pass the received bytes: parsing and
 * serialising the body again changes them.
 */
export function troubleWithSignature(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secrets: readonly Buffer[],
  nowMs: number,
): string | undefined {
  const trouble = troubleWithHeaders(headers, nowMs);
  if (trouble) return trouble;
  const signed = Buffer.concat([
    Buffer.from(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`),
    body,
  ]);
  return isSigned(signed, readSignatures(String(headers['webhook-signature'])), secrets)
    ? undefined
    : FITS_NONE;
}

function readSignatures(header: string): string[] {
  return header.split(' ', MAX_SIGNATURES).filter((signature) => SIGNATURE.test(signature));
}

/** Compares every signature with every secret in constant time, so that the duration reveals nothing. */
function isSigned(signed: Buffer, given: readonly string[], secrets: readonly Buffer[]): boolean {
  let fits = false;
  for (const secret of secrets) {
    const expected = Buffer.from(`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
    for (const signature of given) {
      if (timingSafeEqual(Buffer.from(signature), expected)) fits = true;
    }
  }
  return fits;
}
