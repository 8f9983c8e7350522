import { EXAMPLES, DIAGRAM_TYPES, Renderers, type DiagramType } from '#workloads/diagrams';
import { compare } from '../harness/compare.js';
import { median } from '../harness/median.js';
import { startRedis } from '../harness/redis-server.js';
import { BenchFleet } from './app.process.js';
import { isLight, missedTargets, table, type Figures, type OfType } from './report.js';
import { rate, straight, throughFleet, timed, type Way } from './ways.js';

/*
 * Compares the cost of a picture through the whole fleet with that of the renderers alone, on the same sources, in turns.
 *   node dist/bench/diagrams/diagrams.bench.js [--json] [--large]
 */
const LANES = 8;
const HIT_LANES = 16;
const FOR_MS = 1_500;
const TURNS = { small: 40, large: 200 };
/** A heavy type has this share of the rounds of a light one. */
const HEAVY_PART = 0.25;

let sources = 0;

await compare({ measure: (isLarge) => measure(TURNS[isLarge ? 'large' : 'small']), missedTargets, table });

async function measure(turns: number): Promise<Figures> {
  const store = await startRedis();
  const fleet = await BenchFleet.start(store.url);
  const renderers = new Renderers();
  try {
    const ways = { fleet: throughFleet(fleet.url), straight: straight(renderers) };
    const firstMs = await timed(() => ways.fleet('graphviz', newSource('graphviz')));
    const types: OfType[] = [];
    for (const type of DIAGRAM_TYPES)
      types.push(await ofType(type, ways, isLight(type) ? turns : turns * HEAVY_PART));
    return { turns, firstMs, types, ...(await hits(fleet.url)) };
  } finally {
    await renderers.close();
    await fleet.stop();
    await store.stop();
  }
}

async function ofType(
  type: DiagramType,
  ways: { readonly fleet: Way; readonly straight: Way },
  turns: number,
): Promise<OfType> {
  const draw = (way: Way) => (): Promise<void> => way(type, newSource(type));
  // Their processes start, and warm up.
  for (let i = 0; i < 3; i += 1) for (const way of Object.values(ways)) await draw(way)();
  const took = { fleet: [] as number[], straight: [] as number[] };
  // In turns, so that a busy minute of the machine is a busy minute for both.
  for (let i = 0; i < turns; i += 1)
    for (const name of ['fleet', 'straight'] as const) took[name].push(await timed(draw(ways[name])));
  return {
    type,
    fleetMs: median(took.fleet),
    straightMs: median(took.straight),
    fleetRate: await rate(LANES, FOR_MS, draw(ways.fleet)),
    straightRate: await rate(LANES, FOR_MS, draw(ways.straight)),
  };
}

/** Of one that is drawn: asked for again, and read under its short link. */
async function hits(url: string): Promise<{ readonly hitRate: number; readonly readRate: number }> {
  const body = JSON.stringify({ type: 'graphviz', source: newSource('graphviz') });
  const ask = (): Promise<Response> =>
    fetch(`${url}/v1/diagrams`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { url: link } = (await (await ask()).json()) as { url: string };
  while ((await fetch(`${url}${link}`)).status !== 200) await ask();
  const hit = async (): Promise<void> => {
    const answer = await ask();
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`It is in the cache, and the answer is ${answer.status}.`);
  };
  const read = async (): Promise<void> => void (await (await fetch(`${url}${link}`)).arrayBuffer());
  return {
    hitRate: await rate(HIT_LANES, FOR_MS, hit),
    readRate: await rate(HIT_LANES, FOR_MS, read),
  };
}

/** A source that was not requested before and renders like the others: blank lines at its end have no effect. */
function newSource(type: DiagramType): string {
  sources += 1;
  const { source } = EXAMPLES.find((example) => example.type === type)!;
  return `${source}${' '.repeat(sources % 64)}${'\n'.repeat(1 + Math.floor(sources / 64))}`;
}
