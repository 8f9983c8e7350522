import { formatOwner, type Owner } from '#core';
import {
  kindOf,
  Run,
  type ChildOutcome,
  type Handler,
  type Kind,
  type PayloadIn,
  type StopReason,
} from '#nestjs';
import type { Job } from 'bullmq';
import { readPayload } from './read-payload.js';
import { TestArtifacts } from './test-artifacts.js';
import { TestStop } from './test-stop.js';

export interface PerformOptions {
  /** Default the owners that the kind names for this payload. */
  readonly owners?: readonly (Owner | string)[];
  /** Default 1. */
  readonly attempt?: number;
  /** What `run.children()` answers. */
  readonly children?: readonly ChildOutcome[];
  /** When the run is told to stop, in ms; 0 before it begins. Default never. */
  readonly stopAfter?: number;
  /** Why. Default `cancelled`. */
  readonly stopReason?: StopReason;
}

/** What a run did. */
export interface Performed {
  /** As JSON keeps it. */
  readonly result: unknown;
  readonly progress: readonly unknown[];
  readonly log: readonly { readonly level: string; readonly text: string }[];
  /** The bytes by name. */
  readonly artifacts: ReadonlyMap<string, Buffer>;
}

/**
 * Runs a handler without a store, as a worker does: the payload is read by the schema of the kind before and after it was JSON, and the
 * result becomes JSON. Rejects with the error of the handler; then what it put is gone, as in a worker.
 */
export async function perform<K extends Kind>(
  handler: Handler<K>,
  payload: PayloadIn<K>,
  options: PerformOptions = {},
): Promise<Performed> {
  const kind = kindOf(handler);
  const stored = json(await readPayload(kind, payload));
  const [stop, artifacts] = [new TestStop(options), new TestArtifacts()];
  const progress: unknown[] = [];
  const log: { level: string; text: string }[] = [];
  const job = jobOf(kind, ownersOf(kind, stored, options), options.attempt ?? 1, (value) =>
    progress.push(value),
  );
  const run = new TestRun(
    job,
    stop,
    {
      log: (_, level, text) => void log.push({ level, text }),
      failed: (error) => {
        throw error;
      },
      artifacts,
    },
    options.children ?? [],
  );
  try {
    const result = json(await handler.handle(await readPayload(kind, stored), run));
    await run.artifacts.end(true);
    return { result, progress, log, artifacts: artifacts.kept };
  } catch (error) {
    await run.artifacts.end(false);
    throw error;
  } finally {
    run.end();
    stop.end();
  }
}

class TestRun extends Run {
  constructor(
    job: Job,
    stop: TestStop,
    reports: ConstructorParameters<typeof Run>[2],
    private readonly outcomes: readonly ChildOutcome[],
  ) {
    super(job, stop, reports);
  }

  override async children(): Promise<readonly ChildOutcome[]> {
    return this.outcomes;
  }
}

/** What a run reads of its job. */
function jobOf(kind: Kind, owners: string[], attempt: number, updateProgress: (value: unknown) => void): Job {
  const job = {
    id: `${kind.queue}-test`,
    name: kind.name,
    queueName: kind.queue,
    opts: { owners },
    attemptsMade: attempt - 1,
    attemptsStarted: attempt,
    updateProgress: async (value: unknown) => updateProgress(json(value)),
  };
  return job as unknown as Job;
}

function ownersOf(kind: Kind, payload: unknown, { owners }: PerformOptions): string[] {
  const named = owners ?? kind.owners?.(payload as never) ?? [];
  return named.map((each) => (typeof each === 'string' ? each : formatOwner(each)));
}

function json(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
