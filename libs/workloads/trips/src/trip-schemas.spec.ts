import { owner } from '#core';
import { describe, expect, it } from 'vitest';
import { request } from './trip-kinds.js';
import { Id } from './trip-schemas.js';

describe('a driver id', () => {
  it('may be as long as the owner and the slot key allow, in bytes', () => {
    const longest = `${'間'.repeat(168)}a`;
    expect(Buffer.byteLength(longest)).toBe(505);
    expect(Id.safeParse(longest).success).toBe(true);
    expect(owner('driver', longest).id).toBe(longest);
    expect(Buffer.byteLength(request.slot!({ tripId: 't', driverId: longest } as never)!.key)).toBe(512);
    expect(Id.safeParse(`${longest}b`).success).toBe(false);
    expect(Id.safeParse('a'.repeat(201)).success).toBe(false);
  });
});
