import { pathTo } from '../api.js';
import type { FlowTree } from '../answers.js';
import { ask } from '../ask.js';
import { type Cell, table } from '../render/table.js';
import { clean } from '../render/text.js';
import { named } from '../words.js';

export const flowCommand = ask<FlowTree>({
  name: 'flows show',
  alias: 'flow',
  description: 'show a job and the jobs it waits for, as a tree',
  example: 'flows show probe-4kQ…',
  words: named('jobId'),
  canWatch: true,
  call: (api, [id]) => api.get(pathTo`/v1/flows/${id!}`),
  render: (tree, screen) => {
    const rows = [...rowsOf(tree, '', '')];
    const below = tree.parent ? `\n\nIts parent: mooring flows show ${clean(tree.parent)}` : '';
    return `${table(['job', 'kind', 'state', ['owners', 'drop'], ['error', 'cut']], rows, screen)}${below}`;
  },
});

/** @param branch what stands before this job; @param trunk what stands before its children */
function* rowsOf(tree: FlowTree, branch: string, trunk: string): Generator<readonly Cell[]> {
  yield [`${branch}${tree.id}`, tree.kind, tree.state, tree.owners.join(', '), tree.error];
  for (const [i, child] of tree.children.entries()) {
    const isLast = i === tree.children.length - 1;
    yield* rowsOf(child, `${trunk}${isLast ? '└─ ' : '├─ '}`, `${trunk}${isLast ? '   ' : '│  '}`);
  }
}
