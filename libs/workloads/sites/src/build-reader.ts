import { ArtifactReader } from '#nestjs';
import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { BuildIndex, INDEX, type PackedRoute } from './build/packed-site.js';
import { normalPath, STATIC_ROUTES, type Route } from './build/routes.js';

/** Cache limit over all builds. A site has at most about ten thousand routes of half a kilobyte each. */
const MOST_ROUTES = 50_000;

type Known = ReadonlyMap<string, PackedRoute>;

/** Reads the index and the pages of a build. A build never changes, so its index is cached. */
@Injectable()
export class BuildReader {
  /** In order of use, least recently used first. */
  private readonly known = new Map<string, Known>();
  private readonly underWay = new Map<string, Promise<Known | undefined>>();
  private routesKnown = 0;

  constructor(private readonly artifacts: ArtifactReader) {}

  /** The static routes if the site is not built yet or its build is gone. */
  async routes(job: string | undefined): Promise<Route[]> {
    const known = job === undefined ? undefined : await this.find(job);
    const routes: readonly Route[] = known ? [...known.values()] : Object.values(STATIC_ROUTES);
    return routes.map(({ path, kind, type, id }) => ({
      path,
      kind,
      ...(type && { type }),
      ...(id && { id }),
    }));
  }

  /** The page at a path; `none` if the build has no such page, undefined if the build is gone. */
  async page(job: string, rawPath: string): Promise<PackedRoute | 'none' | undefined> {
    const known = await this.find(job);
    return known && (known.get(normalPath(rawPath) ?? '') ?? 'none');
  }

  /** Undefined if the build is gone. */
  bytes(job: string, { pack, at, size }: PackedRoute): Promise<Readable | undefined> {
    return this.artifacts.open(job, pack, { first: at, last: at + size - 1 });
  }

  /** Concurrent callers share one read. */
  private find(job: string): Promise<Known | undefined> {
    const known = this.known.get(job);
    if (known) {
      this.known.delete(job);
      this.known.set(job, known);
      return Promise.resolve(known);
    }
    const underWay = this.underWay.get(job) ?? this.read(job).finally(() => this.underWay.delete(job));
    this.underWay.set(job, underWay);
    return underWay;
  }

  private async read(job: string): Promise<Known | undefined> {
    const bytes = await this.artifacts.open(job, INDEX);
    if (!bytes) return undefined;
    const { routes } = BuildIndex.parse(JSON.parse(await text(bytes)));
    const known = new Map(routes.map((route) => [route.path, route]));
    this.remember(job, known);
    return known;
  }

  /** Evicts old builds; the one just read is kept, whatever its size. */
  private remember(job: string, known: Known): void {
    this.known.set(job, known);
    this.routesKnown += known.size;
    for (const [oldest, { size }] of this.known) {
      if (this.routesKnown <= MOST_ROUTES || oldest === job) break;
      this.known.delete(oldest);
      this.routesKnown -= size;
    }
  }
}
