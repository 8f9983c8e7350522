import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../support/browser.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

describe('the api in a browser', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start({ workers: 0 })));
  afterAll(() => fleet.stop());

  it('shows its calls and lets a reader try one', async () => {
    const browser = await Browser.open(`${fleet.url}/docs`);
    try {
      await browser.untilText('#swagger-ui', /\/v1\/admin\/queues\/\{queue\}\/pause/);
      await browser.screenshot('docs.png');
      const isPaused = await browser.read<string>(
        `fetch('v1/admin/queues/probe/pause', { method: 'POST' }).then((answer) => answer.text())`,
      );
      expect(JSON.parse(isPaused)).toEqual({ queue: 'probe', paused: true });
      await fleet.request('POST', '/v1/admin/queues/probe/resume');
      expect(browser.complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  it('does not let a page of another origin change anything', async () => {
    const page = `<script>
      const ask = (path) => fetch('${fleet.url}' + path, { method: 'POST', mode: 'no-cors' }).catch(() => undefined);
      Promise.all([ask('/v1/admin/queues/probe/pause'), ask('/v1/owners/trip/1/cancel')]).then(() => (document.title = 'asked'));
    </script>`;
    const other: Server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(page);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const browser = await Browser.open(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
    try {
      await until(() => browser.read<boolean>(`document.title === 'asked'`), 'it has asked');
      const { body } = await fleet.request('GET', '/v1/admin/queues');
      const queues = body['queues'] as { queue: string; paused: boolean }[];
      expect(queues.find(({ queue }) => queue === 'probe')?.paused).toBe(false);
      const owner = await fleet.request('GET', '/v1/owners/trip/1');
      expect(owner.body['state']).toBe('open');
      const refused = fleet.api.facts().filter((fact) => fact['status'] === 403);
      expect(refused.length).toBeGreaterThan(0);
    } finally {
      await browser.close();
      await new Promise((resolve) => other.close(resolve));
    }
  });
});
