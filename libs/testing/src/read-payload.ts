import { InvalidJobError } from '#core';
import type { Kind } from '#nestjs';

/** The payload as the schema of the kind reads it. @throws InvalidJobError */
export async function readPayload(kind: Kind, payload: unknown): Promise<unknown> {
  const read = await kind.payload['~standard'].validate(payload);
  if (!read.issues) return read.value;
  const problems = read.issues.map(({ message, path = [] }) => `${path.map(String).join('.')}: ${message}`);
  throw new InvalidJobError(`The payload of ${kind.name} is not valid: ${problems.join('; ')}`);
}
