import { nearestName } from '#nearest-name';
import type { Sweep } from '../answers.js';
import type { Command } from '../command.js';
import { follow } from '../follow.js';
import { WrongUsage } from '../problems.js';
import { renderSweep, renderSweeping, sweepHasEnded, sweepWentWell } from '../render/sweep.js';

const SWEEPS = ['orphans', 'retention', 'expiry', 'artifacts', 'leases', 'repair'];
const POLL_EVERY_MS = 500;

export const sweep: Command = {
  name: 'sweep',
  usage: [`sweep <${SWEEPS.join('|')}>`],
  description: 'run a sweep now and follow it until it ends',
  options: {
    'dry-run': { description: 'only show what would be removed' },
    force: { description: 'remove even more at once than the limit allows' },
    acknowledge: { description: 'the cause of a trip is fixed: sweep again, within the limit' },
  },
  run: async (parsed, { api, out }) => {
    const name = readName(parsed.words);
    const [dryRun, force] = [parsed.has('dry-run'), parsed.has('force')];
    const acknowledge = parsed.has('acknowledge');
    const { sweepId } = await api.post<{ sweepId: string }>(`/v1/admin/sweeps/${name}`, {
      body: { dryRun, force, ...(acknowledge && { acknowledge }) },
    });
    if (!out.isJson) out.note(`Sweep ${sweepId} requested. It continues if you press Ctrl-C.`);
    const ended = await follow({
      poll: () => api.get<Sweep>(`/v1/admin/sweeps/${encodeURIComponent(sweepId)}`),
      everyMs: POLL_EVERY_MS,
      show: (seen) => out.live(renderSweeping(seen)),
      hasEnded: sweepHasEnded,
    });
    out.answer(ended, (answer, paint) => renderSweep(name, answer, dryRun, paint));
    return sweepWentWell(ended) ? 0 : 1;
  },
};

function readName(words: readonly string[]): string {
  const [name, ...rest] = words;
  if (rest.length > 0) throw new WrongUsage(`Name one sweep only; "${rest.join(' ')}" is too much.`);
  if (name !== undefined && SWEEPS.includes(name)) return name;
  const near = name === undefined ? undefined : nearestName(name, SWEEPS, 3);
  const got = name === undefined ? '' : `; got "${name}"`;
  throw new WrongUsage(`Name a sweep: ${SWEEPS.join(', ')}${got}.${near ? ` Did you mean ${near}?` : ''}`);
}
