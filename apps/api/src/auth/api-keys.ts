import { SCOPES, type Scope } from '#http';
import type { AccessLimits } from '#nestjs';
import type { Rate } from '#runtime';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';

/** A caller and its scopes. The process knows only the hash of the key. */
export interface ApiKey {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly hash: Buffer;
  /** Undefined for a key that may touch everything. */
  readonly limits?: AccessLimits;
  /** Undefined for a key without a rate. */
  readonly rate?: Rate;
}

/** Parses `name:scope+scope:sha256,…` and reports every invalid entry. */
export function readApiKeys(text: string, context: z.core.$RefinementCtx): ApiKey[] {
  return text.split(',').flatMap((entry, index) => {
    const [name = '', scopeList = '', hash = '', ...rest] = entry.trim().split(':');
    const scopes = scopeList.split('+');
    const wrongScope = scopes.find((scope) => !SCOPES.includes(scope as Scope));
    const trouble =
      rest.length > 0 || !/^[\w.-]{1,64}$/.test(name)
        ? 'expected name:scope+scope:sha256'
        : wrongScope !== undefined
          ? `"${wrongScope}" is not a scope; they are ${SCOPES.join(', ')}`
          : !/^[0-9a-f]{64}$/i.test(hash)
            ? 'the last part must be the SHA-256 of the key, 64 hex digits'
            : undefined;
    if (trouble) {
      context.addIssue({ code: 'custom', message: `entry ${index + 1}: ${trouble}` });
      return [];
    }
    return [{ name, scopes: new Set(scopes as Scope[]), hash: Buffer.from(hash, 'hex') }];
  });
}

/** Compares all hashes in constant time, so that the duration reveals nothing. */
export function findKey(keys: readonly ApiKey[], presented: string): ApiKey | undefined {
  const hash = createHash('sha256').update(presented).digest();
  let found: ApiKey | undefined;
  for (const key of keys) {
    if (timingSafeEqual(hash, key.hash)) found = key;
  }
  return found;
}
