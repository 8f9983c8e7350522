import { afterEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { addFailed, expectRetried, readOperation, startRetry } from '../support/killed-operation.js';
import { until } from '../support/until.js';

const JOBS = 10_000;
const CLOSED = 50;
const KILLS = 5;

describe('an operation over ten thousand failed jobs', () => {
  let fleet: Fleet | undefined;
  afterEach(() => fleet?.stop());

  it('retries each once while the api and the janitor are killed again and again', async () => {
    const env = { SWEEP_LOCK: '1s', WORKER_CONCURRENCY: '50', RETENTION_COUNT: String(2 * JOBS) };
    fleet = await Fleet.start({ workers: 2, env });
    const failed = { fleet, count: JOBS, closed: CLOSED };
    await addFailed(failed);

    const operationId = await startRetry(failed);
    let reached = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const janitor = fleet.addJanitor();
      const goal = Math.ceil((JOBS * kill) / (KILLS + 2));
      await until(
        async () => {
          const { done, state } = await readOperation(fleet!, operationId);
          expect(done).toBeGreaterThanOrEqual(reached);
          reached = done;
          expect(state).not.toBe('done');
          return done >= goal;
        },
        `${goal} are done`,
        300_000,
      );
      janitor.kill('SIGKILL');
      fleet.api.kill('SIGKILL');
      await janitor.exited;
      fleet.api = fleet.addApi();
      await fleet.untilReady(fleet.api);
    }
    fleet.addJanitor();

    await expectRetried(failed, operationId);
  }, 1_800_000);
});
