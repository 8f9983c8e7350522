import { nameOf } from '../site.js';

export type RouteKind = 'static' | 'list' | 'entity';

/** A page of a site: where it is, and what it is made of. */
export interface Route {
  readonly path: string;
  readonly kind: RouteKind;
  readonly type?: string | undefined;
  readonly id?: string | undefined;
}

/** What every site has, whatever its entities. */
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

/** The one way to write a path; undefined when it cannot be read at all. */
export function normalPath(raw: string): string | undefined {
  try {
    return pathOf(decodeURIComponent(raw.replace(/^\/+/, '')));
  } catch {
    return undefined;
  }
}

/** How a page gets back to its site's home, by a relative address. */
export function upFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './';
}

function pathOf(name: string): string {
  return `/${name.split('/').map(encodeURIComponent).join('/')}`;
}
