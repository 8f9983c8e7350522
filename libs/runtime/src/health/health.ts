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
  private readonly checks: ReadinessCheck[] = [];
  private readonly listeners: (() => void)[] = [];
  private draining = false;

  add(check: ReadinessCheck): void {
    this.checks.push(check);
  }

  /** From now on not ready, whatever else is well: the process is about to end. */
  beginDraining(): void {
    this.draining = true;
    for (const tell of this.listeners) tell();
  }

  whenDraining(tell: () => void): void {
    this.listeners.push(tell);
  }

  /** The event loop turns, or nobody would read this. */
  alive(): Health {
    return { ok: true, why: [] };
  }

  async ready(): Promise<Health> {
    const why = await Promise.all(this.checks.map((check) => withinLimit(check)));
    const troubles = [this.draining ? 'draining' : undefined, ...why].filter(
      (trouble) => trouble !== undefined,
    );
    return { ok: troubles.length === 0, why: troubles };
  }
}

async function withinLimit(check: ReadinessCheck): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<string>((resolve) => {
    timer = setTimeout(
      resolve,
      CHECK_LIMIT_MS,
      `${check.name || 'a check'} did not answer within ${CHECK_LIMIT_MS} ms`,
    );
  });
  try {
    return await Promise.race([check(), limit]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}
