import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../support/browser.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

describe('the sites demo page', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start();
  });
  afterEach(() => fleet.stop());

  it('loads nothing from other hosts and runs only its own script', async () => {
    const page = await fetch(`${fleet.url}/demo/sites`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; /);
    expect(await page.text()).not.toMatch(/https?:|src="|@import|\sstyle="|\son\w+="/);
  });

  it('imports fifty-one entities, shows two builds, and deletes the site', async () => {
    const browser = await Browser.open(`${fleet.url}/demo/sites`, 1240, 680);
    try {
      await browser.press('.buttons', 'Import 51');
      await browser.untilText('#changes', /^51$/);
      await browser.untilText('#builds', /Build 2: completed, shown/);
      await browser.untilText('#routes', /^55$/);
      expect(await browser.text('#count')).toBe('2');
      const frame = "document.getElementById('site').src";
      await until(() => browser.read<boolean>(`${frame}.includes('/post?version=51')`), 'readers get it');
      await browser.screenshot('sites-1-imported.png');

      await browser.press('.buttons', 'Change one');
      await browser.untilText('#builds', /Build 3: completed, shown/);
      const loaded =
        "performance.getEntriesByType('resource').some(({ name }) => name.includes('?version=52'))";
      await until(() => browser.read<boolean>(loaded), 'its page has come, before the site goes');
      await browser.press('.buttons', 'Delete the site');
      await browser.untilText('#said', /^The site, its builds and its pages are deleted\.$/);
      expect(await browser.text('#count')).toBe('0');
      await browser.screenshot('sites-2-gone.png');
      expect(browser.complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
