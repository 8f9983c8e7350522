import { pathToFileURL } from 'node:url';
import { afterEach, describe, it, expect } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { addFailed, expectRetried, startRetry } from '../support/killed-operation.js';
import { root } from '../support/process.js';

const FAIL_POINT = pathToFileURL(`${root}test/support/fail-point.mjs`).href;

describe('an operation over failed jobs', () => {
  let fleet: Fleet | undefined;
  afterEach(() => fleet?.stop());

  it('ends after kill -9 of the api that took it and of a janitor in the middle of a page', async () => {
    fleet = await Fleet.start({ workers: 1, env: { SWEEP_LOCK: '1s', WORKER_CONCURRENCY: '20' } });
    const failed = { fleet, count: 300, closed: 3 };
    await addFailed(failed);

    const operationId = await startRetry(failed);
    fleet.api.kill('SIGKILL');
    const dying = fleet.addJanitor({
      NODE_OPTIONS: `--import=${FAIL_POINT}`,
      FAIL_POINT: 'after:retryOnce',
    });
    expect(await dying.exited).toMatchObject({ signal: 'SIGKILL' });
    fleet.api = fleet.addApi();
    await fleet.untilReady(fleet.api);
    await fleet.untilReady(fleet.addJanitor());

    await expectRetried(failed, operationId);
  });
});
