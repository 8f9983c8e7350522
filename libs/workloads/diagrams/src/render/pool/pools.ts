import type { Weight } from '../drawers/load.js';
import type { RenderLimits } from '../limits.js';
import { Pool } from './pool.js';
import type { PoolSpec } from './spec.js';

type Own = Pick<PoolSpec, 'heapMb' | 'memoryMb'> & Partial<PoolSpec>;

export function poolsFor(
  limits: RenderLimits,
  chromium: string | undefined,
  onOpen?: () => void,
): Record<Weight | 'finish', Pool> {
  const { idleMs, renders, lightProcesses: processes, fonts } = limits;
  const pool = (own: Own): Pool =>
    new Pool({ setup: { role: 'draw' }, processes: 1, idleMs, renders, ...own });
  return {
    light: pool({ heapMb: 256, memoryMb: 640, processes }),
    dbml: pool({ heapMb: 256, memoryMb: 640 }),
    // Vega compiles the expressions of a chart to functions, so each process draws one chart only.
    vega: pool({ heapMb: 512, memoryMb: 900, evaluates: true, drawsOnce: true }),
    // To optimize it takes 9 s of processor time and 460 MB, and saves a third of each drawing.
    d2: pool({ heapMb: 512, memoryMb: 1_800, compilesQuickly: true }),
    mermaid: chromium
      ? pool({ heapMb: 256, memoryMb: 1_800, setup: { role: 'browse', chromium }, ...(onOpen && { onOpen }) })
      : pool({ heapMb: 512, memoryMb: 900 }),
    syntax: pool({ heapMb: 256, memoryMb: 640 }),
    finish: pool({ heapMb: 384, memoryMb: 900, processes, setup: { role: 'finish', fonts } }),
  };
}
