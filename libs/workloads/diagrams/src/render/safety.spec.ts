import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RENDER_LIMITS } from './limits.js';
import { poolsFor, WEIGHT_OF } from './pool/pools.js';
import { Renderers } from './renderers.js';
import { safeSvg } from './safe/safe-svg.js';
import { dangersIn } from './spec/dangers.js';
import { HOSTILE, REACHING } from './spec/hostile.js';
import type { DiagramType } from './types.js';
import type { DrawerName } from './drawers/load.js';

const { signal } = new AbortController();
const pools = poolsFor(RENDER_LIMITS, undefined);
const renderers = new Renderers({ chromium: '' });
const visits: string[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    visits.push(request.url ?? '');
    response.end('[]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  server.close();
  await Promise.all([renderers.close(), ...Object.values(pools).map((pool) => pool.close())]);
});

describe('a hostile source', () => {
  it.each(HOSTILE)(
    'of $drawer is drawn without its harm: $source',
    async ({ drawer, source, getsThrough }) => {
      const drawn = await rawDrawing(drawer, source);
      // Else this would be seen of a drawing in which nothing was.
      expect(dangersIn(drawn).some(isHarm), drawn).toBe(getsThrough);

      const { bytes } = await renderers.render({ type: typeOf(drawer), source, output: 'svg' }, signal);
      expect(dangersIn(bytes.toString())).toEqual([]);
      expect(bytes.toString()).toBe(safeSvg(drawn));
    },
  );

  it.each(REACHING)('of $drawer reaches nothing: $source', async ({ drawer, source }) => {
    const { port } = server.address() as AddressInfo;
    const request = {
      type: typeOf(drawer),
      source: source.replace('PORT', String(port)),
      output: 'svg',
    } as const;
    const said = await renderers.render(request, signal).then(
      ({ bytes }) => bytes.toString(),
      (error: Error) => `${error.name}: ${error.message}`,
    );
    expect(said).not.toContain('root:');
    expect(visits).toEqual([]);
  });
});

/** A document type is merely left out. */
function isHarm(danger: string): boolean {
  return !/^<[!?]/.test(danger);
}

async function rawDrawing(drawer: DrawerName, source: string): Promise<string> {
  const answer = await pools[WEIGHT_OF[drawer]].run({ do: 'draw', drawer, source }, 20_000, signal);
  return answer.said === 'drawn' ? answer.svg : '';
}

function typeOf(drawer: DrawerName): DiagramType {
  return drawer.startsWith('mermaid') ? 'mermaid' : (drawer as DiagramType);
}
