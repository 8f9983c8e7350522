/** A broken invariant: its name and the evidence. */
export class Violation extends Error {
  constructor(
    readonly invariant: string,
    why: string,
  ) {
    super(`${invariant}: ${why}`);
  }
}

/** The violation that ended a check, or undefined. */
export async function violationOf(check: () => Promise<void>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof Violation) return error.message;
    throw error;
  }
}

export function hold(invariant: string, holds: boolean, why: () => string): void {
  if (!holds) throw new Violation(invariant, why());
}
