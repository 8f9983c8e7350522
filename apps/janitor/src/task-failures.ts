import type { Log } from '#runtime';

/** How soon a duty that goes on failing is named again. */
const SAID_AGAIN_MS = 60_000;

interface Failing {
  readonly sinceMs: number;
  saidMs: number;
  times: number;
}

/**
 * Says that a duty fails: at its first failure, and then once a minute, with how often it has failed. A store that is away
 * fails each duty at each of its turns, some of them twice a second.
 */
export class TaskFailures {
  private readonly failing = new Map<string, Failing>();

  constructor(
    private readonly log: Log,
    private readonly now: () => number = Date.now,
  ) {}

  failed(duty: string, error: unknown): void {
    const now = this.now();
    const failing = this.failing.get(duty) ?? { sinceMs: now, saidMs: -Infinity, times: 0 };
    this.failing.set(duty, failing);
    failing.times += 1;
    if (now - failing.saidMs < SAID_AGAIN_MS) return;
    failing.saidMs = now;
    this.log.warn(
      { event: 'duty.failed', duty, times: failing.times, err: error },
      `${duty} failed; it is tried again`,
    );
  }

  done(duty: string): void {
    const failing = this.failing.get(duty);
    if (!failing) return;
    this.failing.delete(duty);
    const { times, sinceMs } = failing;
    this.log.info(
      { event: 'duty.recovered', duty, times, failingMs: this.now() - sinceMs },
      `${duty} works again, after ${times === 1 ? 'one failure' : `${times} failures`}`,
    );
  }
}
