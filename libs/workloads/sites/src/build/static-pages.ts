import { hash } from 'node:crypto';
import { homePage, sitemap, STYLE, type Outline, type SiteFace } from './pages.js';
import { STATIC_ROUTES, type Route } from './routes.js';

export const HTML = 'text/html; charset=utf-8';
const XML = 'application/xml; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

export interface StaticPage {
  readonly route: Route;
  readonly contentType: string;
  readonly text: string;
}

/** The static pages of a built site. */
export function staticPages(site: SiteFace, outline: Outline, routes: readonly Route[]): StaticPage[] {
  const { home, style, sitemap: map } = STATIC_ROUTES;
  return [
    { route: home, contentType: HTML, text: homePage(site, outline) },
    { route: style, contentType: CSS, text: STYLE },
    { route: map, contentType: XML, text: sitemap(site, [...routes, home]) },
  ];
}

/** A page of a site without a build; undefined if there is none at the path. */
export function unbuiltPage(site: SiteFace, path: string | undefined): StaticPage | undefined {
  const pages = staticPages(site, { lists: new Map(), notes: [] }, []);
  return pages.find(({ route }) => route.path === path);
}

export function etagOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url');
}
