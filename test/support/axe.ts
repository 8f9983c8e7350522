import { readFile } from 'node:fs/promises';
import { root } from './process.js';
import type { Browser } from './browser.js';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds wrong with the page as it is: one line each. All rules, unless some are named. */
export async function accessibilityProblems(browser: Browser, rules?: readonly string[]): Promise<string[]> {
  if (!(await browser.read<boolean>(`'axe' in window`)))
    await browser.read(await readFile(`${root}/node_modules/axe-core/axe.min.js`, 'utf8'));
  const { violations } = await browser.read<{ violations: Violation[] }>(
    `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })}).then(({ violations }) => ({ violations }))`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll('\n', ' ')}`,
    ),
  );
}
