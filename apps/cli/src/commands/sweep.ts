import { nearestName } from '#nearest-name';
import type { Sweep } from '../answers.js';
import type { Command } from '../command.js';
import { follow } from '../follow.js';
import { WrongUsage } from '../problems.js';
import { renderSweep, renderSweeping, sweepHasEnded, sweepWentWell } from '../render/sweep.js';

const SWEEPS = ['orphans', 'retention', 'expiry', 'artifacts', 'leases', 'repair'];
const LOOK_EVERY_MS = 500;

export const sweep: Command = {
  name: 'sweep',
  usage: [`sweep <${SWEEPS.join('|')}>`],
  says: 'has the janitor do a piece of its work now, and follows it to its end',
  options: {
    'dry-run': { says: 'only say what would be removed' },
    force: { says: 'also if it removes more at once than the limit lets it' },
    acknowledge: { says: 'why it tripped is mended: it may remove again, within the limit' },
  },
  run: async (given, { api, out }) => {
    const name = readName(given.words);
    const [dryRun, force] = [given.has('dry-run'), given.has('force')];
    const acknowledge = given.has('acknowledge');
    const { sweepId } = await api.post<{ sweepId: string }>(`/v1/admin/sweeps/${name}`, {
      body: { dryRun, force, ...(acknowledge && { acknowledge }) },
    });
    if (!out.isJson) out.note(`Sweep ${sweepId} is asked for. Ctrl-C leaves it alone; it goes on.`);
    const ended = await follow({
      look: () => api.get<Sweep>(`/v1/admin/sweeps/${encodeURIComponent(sweepId)}`),
      everyMs: LOOK_EVERY_MS,
      show: (seen) => out.live(renderSweeping(seen)),
      hasEnded: sweepHasEnded,
    });
    if (out.isJson) out.json(ended);
    else out.print(renderSweep(name, ended, dryRun, out.paint));
    return sweepWentWell(ended) ? 0 : 1;
  },
};

function readName(words: readonly string[]): string {
  const [name, ...rest] = words;
  if (rest.length > 0) throw new WrongUsage(`One sweep at a time: "${rest.join(' ')}" is too much.`);
  if (name !== undefined && SWEEPS.includes(name)) return name;
  const near = name === undefined ? undefined : nearestName(name, SWEEPS, 3);
  const got = name === undefined ? '' : `; got "${name}"`;
  throw new WrongUsage(`Say which sweep: ${SWEEPS.join(', ')}${got}.${near ? ` Did you mean ${near}?` : ''}`);
}
