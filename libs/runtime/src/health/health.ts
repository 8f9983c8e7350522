import { within } from '../time/within.js';

/** What a probe is answered. `why` names each thing that is not well. */
export interface Health {
  readonly ok: boolean;
  readonly why: readonly string[];
}

/** One thing that must be well for a process to be ready. Answers why it is not, or nothing. */
export type ReadinessCheck = () => Promise<string | undefined>;

const CHECK_LIMIT_MS = 1_000;

/** Whether this process lives and whether work should be sent to it. */
export class HealthBook {
  private readonly checks: { readonly subject: string; readonly check: ReadinessCheck }[] = [];
  private draining = false;

  /** The subject is named when its check does not answer: `the store`. */
  add(subject: string, check: ReadinessCheck): void {
    this.checks.push({ subject, check });
  }

  /** From now on not ready, whatever else is well: the process is about to end. */
  beginDraining(): void {
    this.draining = true;
  }

  /** The event loop turns, or nobody would read this. */
  alive(): Health {
    return { ok: true, why: [] };
  }

  async ready(): Promise<Health> {
    const why = await Promise.all(this.checks.map(({ subject, check }) => withinLimit(subject, check)));
    const troubles = [this.draining ? 'draining' : undefined, ...why].filter(
      (trouble) => trouble !== undefined,
    );
    return { ok: troubles.length === 0, why: troubles };
  }
}

async function withinLimit(subject: string, check: ReadinessCheck): Promise<string | undefined> {
  const late = `${subject} did not answer within ${CHECK_LIMIT_MS} ms`;
  try {
    return await within(CHECK_LIMIT_MS, check(), late);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
