import type { Run } from '#nestjs';
import { z } from 'zod';
import { Route } from './routes.js';
import { etagOf } from './static-pages.js';

/** Pages are packed into larger artifacts: a job may have a thousand artifacts, a site ten thousand pages. */
const PACK_BYTES = 4 * 1024 * 1024;

export const INDEX = 'routes.json';

/** A page and the position of its bytes. */
const PackedRoute = Route.extend({
  contentType: z.string(),
  etag: z.string(),
  pack: z.string(),
  at: z.number().int(),
  size: z.number().int(),
});
export type PackedRoute = z.output<typeof PackedRoute>;

/** The index of a build lists every page that the build contains, and no other. */
export const BuildIndex = z.object({ version: z.number().int(), routes: z.array(PackedRoute) });
export type BuildIndex = z.output<typeof BuildIndex>;

/**
 * Writes pages into the artifacts of a run. The index comes last, so that a build with an index is complete.
 */
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
