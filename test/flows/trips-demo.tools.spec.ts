import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../support/browser.js';
import { Fleet } from '../support/fleet.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { until } from '../support/until.js';

const RIDES = '#trips li';

describe('the trips demo page', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 1 });
  });
  afterEach(() => fleet.stop());

  it('loads nothing from other hosts and runs only its own script', async () => {
    const page = await fetch(`${fleet.url}/demo/trips`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; /);
    expect(await page.text()).not.toMatch(/https?:|src="|@import|\sstyle="|\son\w+="/);
  });

  it('shows three phones, one ride, and its outcome', async () => {
    const browser = await Browser.open(`${fleet.url}/demo/trips`, 1240, 680);
    try {
      await browser.untilText('#cem .stage', /Waiting for a ride/);
      await browser.press('.rider', 'Ask for a ride');
      for (const phone of ['#ann', '#bob', '#cem']) await browser.untilText(`${phone} .stage`, /Ride 1/);
      await browser.screenshot('trips-1-offered.png');

      await browser.press('#bob', 'Accept');
      await browser.untilText('#bob .stage', /Driving Ride 1/);
      for (const phone of ['#ann', '#cem']) await browser.untilText(`${phone} .stage`, /Waiting/);
      await browser.untilText(RIDES, /Ride 1 accepted\s+with Bob/);

      await browser.press('.rider', 'Ask for a ride');
      for (const phone of ['#ann', '#cem']) await browser.untilText(`${phone} .stage`, /Ride 2/);
      expect(await browser.text('#bob .stage')).toMatch(/Driving Ride 1/);
      await browser.press('#cem', 'Decline');
      await browser.untilText('#cem .stage', /Waiting/);
      await browser.screenshot('trips-2-driving.png');
      await browser.press('#bob', 'Complete');
      await browser.untilText('#bob .stage', /Ride 2/);
      await browser.press(`${RIDES}:first-child`, 'Cancel');
      for (const phone of ['#ann', '#bob']) await browser.untilText(`${phone} .stage`, /Waiting/);
      await browser.untilText('#ann .log', /Ride 2 withdrawn: the rider no longer needs it/);

      await browser.press('#ann', 'checkbox');
      await browser.untilText('#ann .stage', /Offline/);
      await browser.screenshot('trips-3-after.png');
      expect(await browser.text('#said')).toBe('');
      expect(browser.complaints).toEqual([]);
    } finally {
      await browser.read('dispatchEvent(new Event("pagehide"))').catch(() => undefined);
      await until(() => untilNothingIsLeft(fleet.storeUrl, fleet.prefix).then(() => true), 'nothing is left');
      await browser.close();
    }
  });

  it('works behind api keys once a key is entered', async () => {
    const secret = 'demo-secret';
    const hash = createHash('sha256').update(secret).digest('hex');
    const kept = await Fleet.start({
      workers: 1,
      env: { API_KEYS: `demo:enqueue+read+cancel:${hash}`, DEMO: 'on' },
    });
    const browser = await Browser.open(`${kept.url}/demo/trips`, 1240, 680);
    try {
      await browser.untilText('#said', /key/);
      await browser.read(`document.getElementById('key').value = '${secret}'`);
      await browser.untilText('#said', /^$/, 5_000);
      await browser.press('.rider', 'Ask for a ride');
      for (const phone of ['#ann', '#bob', '#cem'])
        await browser.untilText(`${phone} .stage`, /Ride 1/, 5_000);
      expect(await browser.text('#said')).toBe('');
    } finally {
      await browser.close();
      await kept.stop();
    }
  });
});
