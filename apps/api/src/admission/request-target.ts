const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** Path of a request target, also in absolute form (`GET http://host/path`). */
export function pathOf(target: string): string {
  const path = target.replace(ABSOLUTE, '');
  return path === '' || path.startsWith('?') ? `/${path}` : path;
}

/** Host of an absolute request target; undefined if the target is a path. */
export function hostOf(target: string): string | undefined {
  return ABSOLUTE.exec(target)?.[1];
}
