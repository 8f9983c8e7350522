import { compare } from '../harness/compare.js';
import { missedTargets, table, type Figures } from './report.js';
import { SweepStore } from './sweep.store.js';
import type { Shape } from './trips.js';

/*
 * Measures the cost of finding and ending the jobs whose owners are gone, for the sweep and, in the same run and on the
 * same jobs, for the usual way: load every job, ask for the trip of each, remove.
 *   node dist/bench/sweep/sweep.bench.js [--json] [--large]
 */
const SHAPES = { small: { trips: 2_000, each: 100 }, large: { trips: 3_000, each: 100 } };
const QUIET_MS = 500;

await compare({ measure: (isLarge) => measure(SHAPES[isLarge ? 'large' : 'small']), missedTargets, table });

async function measure(shape: Shape): Promise<Figures> {
  const store = await SweepStore.start(shape);
  try {
    const quiet = await store.quiet(QUIET_MS);
    return { shape, quiet, ours: await store.sweep('ours'), usual: await store.sweep('usual') };
  } finally {
    await store.stop();
  }
}
