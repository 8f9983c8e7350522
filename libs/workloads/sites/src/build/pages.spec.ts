import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entity, EntityContent } from '../site.js';
import { entityPage, homePage, listPage, sitemap } from './pages.js';
import { entityRoute, listRoute, normalPath, STATIC_ROUTES } from './routes.js';

const SITE = { name: 'Harbour', url: 'https://harbour.example/notes' };
/** Input that is known to break page generators. */
const ATTACKS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title><script>alert(1)</script>',
  '</style><svg onload=alert(1)>',
  'javascript:alert(1)',
  '&lt;script&gt;',
  '<!--',
  ']]>',
  '{{7*7}}',
  '${7*7}',
  'a\u2028b\u2029c',
  '\u0000\u0008\ud800',
  '<ſcript>',
];

/** Everything a browser would read as markup, in order. */
function tagsOf(page: string): string[] {
  return [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
}

function pagesOf(site: typeof SITE, entity: Entity): string[] {
  const listed = [{ id: entity.id, title: entity.content.title ?? '' }];
  const lists = new Map([[entity.type, listed]]);
  return [
    entityPage(site, entity),
    listPage(site, entity.type, listed),
    homePage(site, { lists, notes: [{ ...entity, type: 'profile' }] }),
    sitemap(site, [STATIC_ROUTES.home, listRoute(entity.type), entityRoute(entity.type, entity.id)]),
  ];
}

/** The tags and their attribute names, without attribute values. */
function shapesOf(page: string): string[] {
  return tagsOf(page).map((tag) => tag.replaceAll(/"[^"]*"/g, '""'));
}

describe('pages', () => {
  it.each(ATTACKS)('show %j as text in every place', (text) => {
    const content: EntityContent = {
      title: text,
      body: `${text}\n\n${text}`,
      [text]: text,
      more: { [text]: [text] },
    };
    const tame: EntityContent = { title: 't', body: 'b\n\nb', field: 'f', more: {} };
    const id = text.replaceAll(/[\\/\p{Cc}\p{Cs}]/gu, '');
    const wild = pagesOf({ name: text, url: SITE.url }, { type: 'post', id, content });
    const calm = pagesOf(SITE, { type: 'post', id: 'x', content: tame });
    expect(wild.map(shapesOf)).toEqual(calm.map(shapesOf));
    for (const page of wild) {
      expect(page).not.toMatch(/[\p{Cs}\p{Noncharacter_Code_Point}]/u);
      expect(page.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
      // An ampersand only begins one of the five references that the generator writes.
      expect(page.match(/&(?!(amp|lt|gt|quot|#39);)/g)).toBeNull();
      for (const [, href] of page.matchAll(/href="([^"]*)"/g)) expect(href).toMatch(/^\.\.?\//);
    }
  });

  it('nest and close every tag, whatever the content', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(text, text, fc.dictionary(text, fc.jsonValue({ maxDepth: 2 })), (title, body, more) => {
        const content = { ...more, title, body };
        for (const page of pagesOf(SITE, { type: 'post', id: 'x', content }))
          expect(openTags(page)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('link to each other by relative addresses', () => {
    const entity = { type: 'post', id: 'a b', content: { title: 'A' } };
    const base = 'https://harbour.example/sites/1';
    const goes = (from: string, page: string): string[] =>
      [...page.matchAll(/(?:href)="([^"]*)"/g)].map(([, href]) =>
        new URL(href!, base + from).href.slice(base.length),
      );
    const [own, list, home] = pagesOf(SITE, entity) as [string, string, string];
    expect([goes('/post/a%20b', own), goes('/post', list), goes('/', home)]).toEqual([
      ['/style.css', '/', '/post'],
      ['/style.css', '/', '/post/a%20b'],
      ['/style.css', '/', '/post'],
    ]);
  });

  it('have one address each', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((id) => !/^\.{1,2}$|[\p{Cc}\p{Cs}/\\]/u.test(id));
    fc.assert(
      fc.property(name, (id) => {
        const { path } = entityRoute('post', id);
        expect(normalPath(path.slice(1))).toBe(path);
        expect(new URL(`http://x/sites/1${path}`).pathname).toBe(`/sites/1${path}`);
      }),
    );
    expect(normalPath('%zz')).toBeUndefined();
  });
});

function openTags(page: string): string[] {
  const open: string[] = [];
  for (const tag of tagsOf(page)) {
    const name = /^<\/?([a-z]+[1-6]?)/.exec(tag)?.[1];
    if (name === undefined || ['meta', 'link'].includes(name)) continue;
    if (!tag.startsWith('</')) open.push(name);
    else if (open.pop() !== name) return [`${tag} was not open`];
  }
  return open;
}
