import { createHash } from 'node:crypto';

/** One entry of `API_KEYS`: scopes are joined by `+`; the key itself is the name unless one is given. */
export function apiKey(name: string, scopes: string, key = name): string {
  return `${name}:${scopes}:${createHash('sha256').update(key).digest('hex')}`;
}
