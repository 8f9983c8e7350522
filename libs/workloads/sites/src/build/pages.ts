import type { Entity, EntityContent } from '../site.js';
import { escape, html, Html } from './html.js';
import { entityRoute, listRoute, STATIC_ROUTES, upFrom, type Route } from './routes.js';

/** What every page shows of its site. */
export interface SiteFace {
  readonly name: string;
  readonly url: string;
}

/** The part of an entity that other pages show. */
export interface Listed {
  readonly id: string;
  readonly title: string;
}

export interface Outline {
  /** Entities by type, in order. */
  readonly lists: ReadonlyMap<string, readonly Listed[]>;
  /** Entities without a page of their own. */
  readonly notes: readonly Entity[];
}

export const STYLE = `:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 42rem; padding: 1rem; }
header, footer { border-color: #8884; border-style: solid; border-width: 0 0 1px; padding: 0.5rem 0; }
footer { border-width: 1px 0 0; margin-top: 2rem; }
p, dd { overflow-wrap: anywhere; white-space: pre-line; }
dt { font-weight: 600; }
`;

export function titleOf({ id, content }: Pick<Entity, 'id' | 'content'>): string {
  return content.title?.trim() || id;
}

export function homePage(site: SiteFace, { lists, notes }: Outline): string {
  const { path } = STATIC_ROUTES.home;
  const types = [...lists].map(
    ([type, listed]) => html`<li>${linkTo(path, listRoute(type), type)} (${listed.length})</li> `,
  );
  const said = notes.map(
    (entity) =>
      html`<section>
        <h2>${titleOf(entity)}</h2>
        ${contentOf(entity.content)}
      </section> `,
  );
  return page(
    site,
    path,
    site.name,
    html`<h1>${site.name}</h1>
      ${said}${listOf(types)}`,
  );
}

export function listPage(site: SiteFace, type: string, listed: readonly Listed[]): string {
  const { path } = listRoute(type);
  const items = listed.map(({ id, title }) => html`<li>${linkTo(path, entityRoute(type, id), title)}</li> `);
  return page(
    site,
    path,
    type,
    html`<h1>${type}</h1>
      ${listOf(items)}`,
  );
}

export function entityPage(site: SiteFace, entity: Entity): string {
  const { path } = entityRoute(entity.type, entity.id);
  const title = titleOf(entity);
  return page(
    site,
    path,
    title,
    html`<article>
        <h1>${title}</h1>
        ${contentOf(entity.content)}
      </article>
      <p>${linkTo(path, listRoute(entity.type), entity.type)}</p> `,
  );
}

export function sitemap({ url }: SiteFace, routes: readonly Route[]): string {
  const places = routes
    .filter((route) => route.kind !== 'static' || route.path === STATIC_ROUTES.home.path)
    .map(({ path }) => `<url><loc>${escape(url + path)}</loc></url>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${places.join('')}</urlset>
`;
}

function page(site: SiteFace, path: string, title: string, main: Html): string {
  const up = upFrom(path);
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="${up}style.css" />
      </head>
      <body>
        <header><a href="${up}">${site.name}</a></header>
        <main>${main}</main>
      </body>
    </html>`;
  return `${text}\n`;
}

function contentOf(content: EntityContent): Html {
  const paragraphs = (content.body ?? '').split(/\n{2,}/).filter((text) => text.trim() !== '');
  const fields = Object.entries(content)
    .filter(isField)
    .map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${typeof value === 'string' ? value : JSON.stringify(value)}</dd> `,
    );
  return html`${paragraphs.map((text) => html`<p>${text}</p> `)}${
    fields.length > 0 ? html`<dl>${fields}</dl> ` : []
  }`;
}

function isField([name]: readonly [string, unknown]): boolean {
  return name !== 'title' && name !== 'body';
}

function listOf(items: readonly Html[]): Html {
  return items.length > 0
    ? html`<ul>
        ${items}
      </ul> `
    : html`<p>Nothing here yet.</p> `;
}

function linkTo(from: string, { path }: Route, text: string): Html {
  return html`<a href="${upFrom(from)}${path.slice(1)}">${text}</a>`;
}
