import { z } from 'zod';
import { nameOf } from '../site.js';

/** A page of a site: its path and its source. */
export const Route = z.object({
  path: z.string(),
  kind: z.enum(['static', 'list', 'entity']),
  type: z.string().optional(),
  id: z.string().optional(),
});
export type Route = z.output<typeof Route>;

/** Pages of every site, whatever its entities. */
export const STATIC_ROUTES = {
  home: { path: '/', kind: 'static' },
  sitemap: { path: '/sitemap.xml', kind: 'static' },
  style: { path: '/style.css', kind: 'static' },
} as const satisfies Record<string, Route>;

export function listRoute(type: string): Route {
  return { path: pathOf(type), kind: 'list', type };
}

export function entityRoute(type: string, id: string): Route {
  return { path: pathOf(nameOf(type, id)), kind: 'entity', type, id };
}

/** The canonical form of a path; undefined if it cannot be decoded. */
export function normalPath(raw: string): string | undefined {
  try {
    return pathOf(decodeURIComponent(raw.replace(/^\/+/, '')));
  } catch {
    return undefined;
  }
}

/** The relative address of the site's home. */
export function upFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './';
}

function pathOf(name: string): string {
  return `/${name.split('/').map(encodeURIComponent).join('/')}`;
}
