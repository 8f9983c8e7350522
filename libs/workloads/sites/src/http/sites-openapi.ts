import type { KnownProblem, RouteDescription } from '#http';

const SITE_ID = 'zxa7m3upqlputxjbzl4j';
const SITE_PARAMETER = { id: ['The id of the site.', SITE_ID] } as const;
const ENTITY_PARAMETERS = {
  ...SITE_PARAMETER,
  type: ['The type of the entity.', 'article'],
  entityId: ['The id of the entity within its type.', 'hello'],
} as const;
const NO_SITE: KnownProblem = { code: 'NOT_FOUND', status: 404, detail: 'There is no site of that id.' };
const FULL: KnownProblem = {
  code: 'SITE_FULL',
  status: 409,
  detail: 'The site has as many entities as it may. Delete some first.',
};
const ENTITY = { type: 'article', id: 'hello', version: 1 };
const SITE = {
  id: SITE_ID,
  name: 'News',
  url: `http://localhost:3000/sites/${SITE_ID}`,
  version: 1,
  entities: 1,
  createdAt: '2026-03-01T09:30:00.000Z',
  routes: [
    { path: '/', kind: 'static' },
    { path: '/article/hello', kind: 'entity', type: 'article', id: 'hello' },
  ],
  builds: [{ id: 'sites-c61eb9c64de25d325ea9', state: 'completed', current: true, version: 1, entities: 1 }],
};

export const SITES = {
  create: {
    id: 'createSite',
    summary: 'Create a site',
    body: { name: 'News' },
    answers: { 201: SITE },
    problems: ['OWNER_CLOSED', 'QUEUE_FULL', 'OWNER_FULL'],
  },
  read: {
    id: 'readSite',
    summary: 'Read a site, its routes and its builds',
    parameters: SITE_PARAMETER,
    answers: { 200: SITE },
    problems: [NO_SITE],
  },
  delete: {
    id: 'deleteSite',
    summary: 'Delete a site',
    parameters: SITE_PARAMETER,
    problems: [NO_SITE],
  },
  put: {
    id: 'putEntity',
    summary: 'Create or replace an entity of a site',
    description: 'The site is built again. Changes that follow soon share one build.',
    parameters: ENTITY_PARAMETERS,
    body: { title: 'Hello', body: 'The first article.' },
    answers: { 201: ENTITY, 200: { ...ENTITY, version: 2 } },
    problems: [NO_SITE, FULL, 'OWNER_CLOSED', 'QUEUE_FULL', 'OWNER_FULL'],
  },
  remove: {
    id: 'deleteEntity',
    summary: 'Delete an entity of a site',
    parameters: ENTITY_PARAMETERS,
    problems: [
      { code: 'NOT_FOUND', status: 404, detail: 'The site has no such entity.' },
      'OWNER_CLOSED',
      'QUEUE_FULL',
      'OWNER_FULL',
    ],
  },
} as const satisfies Record<string, RouteDescription>;
