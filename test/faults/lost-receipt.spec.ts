import { Redis } from 'ioredis';
import { expect, inject, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { until } from '../support/until.js';

it('answers 503 to a cancel whose receipt the store lost before the answer, so that the caller repeats it', async () => {
  const fleet = await Fleet.start();
  const redis = new Redis(inject('storeUrl'));
  try {
    const id = await fleet.probe({ ms: 60_000, ignoreAbort: true });
    await fleet.untilState(id, 'running');
    const cancel = { reason: 'off', cancelId: 'c-1', wait: 'drained', waitFor: '20s' };
    let answer: Answer | undefined;
    const answered = fleet
      .request('POST', '/v1/owners/trip/42/cancel', cancel)
      .then((given) => (answer = given));
    // Simulates a replica that took over without the receipt. A cancel that does not wait yet writes it once more.
    await until(async () => {
      await redis.del(`{${fleet.prefix}}~receipt~c-1`);
      return answer;
    }, 'the cancel is answered');

    const { status, headers, body } = await answered;
    expect({ status, code: body['code'] }).toEqual({ status: 503, code: 'STORE_UNAVAILABLE' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body['detail']).toContain('Repeat it with the same cancelId');

    const repeated = await fleet.request('POST', '/v1/owners/trip/42/cancel', {
      reason: 'off',
      cancelId: 'c-1',
    });
    expect(repeated).toMatchObject({ status: 200, body: { cancelId: 'c-1' } });
  } finally {
    await redis.quit();
    await fleet.stop();
  }
});
