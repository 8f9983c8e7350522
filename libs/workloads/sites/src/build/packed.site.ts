import type { Run } from '#lifecycle';
import { z } from 'zod';
import type { Route } from './routes.js';
import { etagOf } from './static.pages.js';

/** A job may have a thousand artifacts, and a site ten thousand pages: they lie in a few, one behind the other. */
const PACK_BYTES = 4 * 1024 * 1024;

export const INDEX = 'routes.json';

/** A page, and where in which artifact its bytes are. */
const PackedRoute = z.object({
  path: z.string(),
  kind: z.enum(['static', 'list', 'entity']),
  type: z.string().optional(),
  id: z.string().optional(),
  contentType: z.string(),
  etag: z.string(),
  pack: z.string(),
  at: z.number().int(),
  size: z.number().int(),
});
export type PackedRoute = z.output<typeof PackedRoute>;

/** The routes of a build: of each page that it has, and of nothing else. */
export const BuildIndex = z.object({ version: z.number().int(), routes: z.array(PackedRoute) });
export type BuildIndex = z.output<typeof BuildIndex>;

/** Puts pages into the artifacts of a run; the index comes last. */
export class PackedSite {
  private readonly packed: PackedRoute[] = [];
  private chunks: Buffer[] = [];
  private bytes = 0;
  private packs = 1;

  constructor(private readonly artifacts: Run['artifacts']) {}

  get routes(): readonly PackedRoute[] {
    return this.packed;
  }

  async add(route: Route, contentType: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const etag = etagOf(bytes);
    const pack = nameOf(this.packs);
    this.packed.push({ ...route, contentType, etag, pack, at: this.bytes, size: bytes.length });
    this.chunks.push(bytes);
    this.bytes += bytes.length;
    if (this.bytes >= PACK_BYTES) await this.flush();
  }

  async finish(version: number): Promise<void> {
    if (this.bytes > 0) await this.flush();
    const index: BuildIndex = { version, routes: this.packed };
    await this.artifacts.put(INDEX, JSON.stringify(index), { contentType: 'application/json' });
  }

  private async flush(): Promise<void> {
    await this.artifacts.put(nameOf(this.packs), Buffer.concat(this.chunks));
    this.chunks = [];
    this.bytes = 0;
    this.packs += 1;
  }
}

function nameOf(pack: number): string {
  return `pages-${pack}`;
}
