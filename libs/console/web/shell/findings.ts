import { api } from '../data/session.js';
import { link, ownerLink } from '../router.js';
import { ALL_PLACES } from './places.js';

export interface Finding {
  readonly name: string;
  readonly what: string;
  readonly to: string;
}

const MOST_OWNERS = 6;

/** Of a queue, with a random part; or what an application chose. */
const JOB_ID = /^[^\s:]{12,}$/;

/** What a text may mean, the likeliest first. */
export async function findings(text: string): Promise<Finding[]> {
  const matches = (name: string): boolean => name.toLowerCase().includes(text.toLowerCase());
  const pages = ALL_PLACES.filter(({ name }) => matches(name)).map(({ name, path }) => ({
    name,
    what: 'page',
    to: link([path].filter(Boolean)),
  }));
  if (text === '') return pages;
  const [kinds, owners] = await Promise.all([kindsLike(matches), ownersLike(text)]);
  return [...jobWith(text), ...pages, ...owners, ...kinds];
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
  return owners.map(({ owner, counts }) => ({
    name: owner,
    what: `owner, ${counts.jobs} jobs`,
    to: ownerLink(owner),
  }));
}

/** The page of the job says if there is none. */
function jobWith(id: string): Finding[] {
  return JOB_ID.test(id) ? [{ name: id, what: 'job with this id', to: link(['jobs', id]) }] : [];
}
