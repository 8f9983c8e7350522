import { api } from '../data/session.js';
import { link, ownerLink } from '../router.js';
import { ALL_PLACES } from './places.js';

export interface Finding {
  readonly name: string;
  readonly what: string;
  readonly to: string;
}

const MOST_OWNERS = 6;

/** What a text may mean, the likeliest first. */
export async function findings(text: string): Promise<Finding[]> {
  const matches = (name: string): boolean => name.toLowerCase().includes(text.toLowerCase());
  const pages = ALL_PLACES.filter(({ name }) => matches(name)).map(({ name, path }) => ({
    name,
    what: 'page',
    to: link([path].filter(Boolean)),
  }));
  if (text === '') return pages;
  const [kinds, owners, job] = await Promise.all([kindsLike(matches), ownersLike(text), jobWith(text)]);
  return [...job, ...pages, ...owners, ...kinds];
}

async function kindsLike(matches: (name: string) => boolean): Promise<Finding[]> {
  const { kinds } = await api.value.call('GET /v1/kinds');
  const queues = [...new Set(kinds.map(({ queue }) => queue))].filter(matches);
  return [
    ...queues.map((queue) => ({ name: queue, what: 'queue', to: link(['jobs'], { queue }) })),
    ...kinds
      .map(({ name }) => name)
      .filter(matches)
      .map((kind) => ({ name: kind, what: 'kind', to: link(['jobs'], { kind }) })),
  ];
}

async function ownersLike(prefix: string): Promise<Finding[]> {
  const query = { prefix, limit: MOST_OWNERS };
  // A text that is no beginning of a name is refused.
  const { owners } = await api.value.call('GET /v1/owners', { query }).catch(() => ({ owners: [] }));
  return owners.map(({ owner, counts }) => ({ name: owner, what: `owner, ${counts.jobs} jobs`, to: ownerLink(owner) }));
}

async function jobWith(id: string): Promise<Finding[]> {
  if (id.length < 8 || ['.', '..'].includes(id)) return [];
  const job = await api.value.call('GET /v1/jobs/{id}', { path: { id } }).catch(() => undefined);
  return job ? [{ name: job.kind, what: `job, ${job.state}`, to: link(['jobs', id]) }] : [];
}
