import { signal } from '@preact/signals';

export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** The page and its filters are in the fragment, so that a link works under any path, and the server serves one page. */
export const route = signal(read());

addEventListener('hashchange', () => (route.value = read()));

export function link(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** Changes the filters of this page. The back button leaves the page, not a filter. */
export function filter(query: Readonly<Record<string, string | undefined>>): void {
  history.replaceState(null, '', link(route.value.path, query));
  route.value = read();
}

export function ownerLink(name: string): string {
  const [type = '', ...id] = name.split(':');
  return link(['owners', type, id.join(':')]);
}

function read(): Route {
  const [path = '', search = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(search) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
