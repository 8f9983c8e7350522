import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../support/browser.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

describe('the diagrams demo page', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start();
  });
  afterEach(() => fleet.stop());

  it('loads nothing from other hosts and runs only its own script', async () => {
    const page = await fetch(`${fleet.url}/demo/diagrams`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; /);
    expect(await page.text()).not.toMatch(/src="|<link rel="stylesheet|@import|\sstyle="|\son\w+="/);
  });

  it('draws every example and typed source, and shows the position of an error', async () => {
    const browser = await Browser.open(`${fleet.url}/demo/diagrams`, 1320, 860);
    const drawn = "document.getElementById('picture').dataset.old === 'false'";
    const choose = (id: string, value: string): Promise<unknown> =>
      browser.read(
        `(at('${id}').value = ${JSON.stringify(value)}, at('${id}').dispatchEvent(new Event('${id === 'source' ? 'input' : 'change'}')), true)`,
      );
    try {
      const examples = await until(
        () => browser.read<number>("document.getElementById('example').options.length || undefined"),
        'the page is there',
      );
      expect(examples).toBeGreaterThanOrEqual(20);
      for (let i = 0; i < examples; i += 1) {
        await choose('example', String(i));
        await until(() => browser.read<boolean>(drawn), `example ${i} is drawn`, 60_000);
        expect(await browser.text('#said')).toBe('');
        await until(
          () => browser.read<boolean>("document.getElementById('picture').naturalWidth > 20"),
          `example ${i} is shown`,
        );
        await browser.screenshot(`diagrams-example-${i}.png`);
      }
      await choose('example', '0');
      await browser.untilText('#facts', /^from the cache in \d+ ms/);
      await choose('output', 'png');
      await browser.untilText('#facts', /^drawn in \d+ ms/);
      await choose('source', 'digraph {\n  quay -> -> berth\n}');
      await browser.untilText('#said', /^Line 2.*syntax error/);
      await browser.screenshot('diagrams-wrong.png');
      await choose('source', 'digraph {\n  quay -> berth\n}');
      await browser.untilText('#said', /^$/);
      await until(() => browser.read<boolean>(drawn), 'it is mended');
      await browser.screenshot('diagrams-mended.png');
      // The browser logs a refused source too.
      expect(browser.complaints.filter((text) => !/422/.test(text))).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
