import { ArtifactReader } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { BuildIndex, INDEX, type PackedRoute } from './build/packed.site.js';
import { normalPath, STATIC_ROUTES, type Route } from './build/routes.js';

/** Builds whose routes are remembered; a build never changes. */
const REMEMBERED = 32;

interface Known {
  readonly index: BuildIndex;
  readonly byPath: ReadonlyMap<string, PackedRoute>;
}

/** Reads what a build has left: which pages there are, and their bytes. */
@Injectable()
export class BuildReader {
  private readonly known = new Map<string, Known>();

  constructor(private readonly artifacts: ArtifactReader) {}

  /** Of a site that is not built yet, or whose build is gone: those that every site has. */
  async routes(job: string | undefined): Promise<readonly Route[]> {
    const known = job === undefined ? undefined : await this.find(job);
    const routes: readonly Route[] = known?.index.routes ?? Object.values(STATIC_ROUTES);
    return routes.map(({ path, kind, type, id }) => ({
      path,
      kind,
      ...(type && { type }),
      ...(id && { id }),
    }));
  }

  /** The page at an address: `none` when there is none; undefined when the build is gone. */
  async page(job: string, rawPath: string): Promise<PackedRoute | 'none' | undefined> {
    const known = await this.find(job);
    return known && (known.byPath.get(normalPath(rawPath) ?? '') ?? 'none');
  }

  /** Undefined when the build is gone. */
  bytes(job: string, { pack, at, size }: PackedRoute): Promise<Readable | undefined> {
    return this.artifacts.open(job, pack, { first: at, last: at + size - 1 });
  }

  private async find(job: string): Promise<Known | undefined> {
    const remembered = this.known.get(job);
    if (remembered) return remembered;
    const bytes = await this.artifacts.open(job, INDEX);
    if (!bytes) return undefined;
    const index = BuildIndex.parse(JSON.parse(await text(bytes)));
    const known = { index, byPath: new Map(index.routes.map((route) => [route.path, route])) };
    this.known.set(job, known);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= REMEMBERED) break;
      this.known.delete(oldest);
    }
    return known;
  }
}
