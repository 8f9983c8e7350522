const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** The path of a target that names its host too, as `GET http://host/path`: such a request means the same as one without. */
export function pathOf(target: string): string {
  const path = target.replace(ABSOLUTE, '');
  return path === '' || path.startsWith('?') ? `/${path}` : path;
}

/** The host that a target names; undefined when it is a path alone. */
export function hostOf(target: string): string | undefined {
  return ABSOLUTE.exec(target)?.[1];
}
