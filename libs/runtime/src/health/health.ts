import { within } from '../time/within.js';

/** Answer to a probe. `why` lists every problem. */
export interface Health {
  readonly ok: boolean;
  readonly why: readonly string[];
}

/** Returns why the process is not ready; undefined if it is. */
export type ReadinessCheck = () => Promise<string | undefined>;

const CHECK_LIMIT_MS = 1_000;

/** Liveness and readiness of this process. */
export class HealthBook {
  private readonly checks: { readonly subject: string; readonly check: ReadinessCheck }[] = [];
  private draining = false;

  /** `subject` appears in the message if the check times out, as in `the store`. */
  add(subject: string, check: ReadinessCheck): void {
    this.checks.push({ subject, check });
  }

  /** Makes the process not ready, because it is about to exit. */
  beginDraining(): void {
    this.draining = true;
  }

  /** Always true: answering proves that the event loop turns. */
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
