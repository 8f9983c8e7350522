/** An entity's JSON object; its title and body are strings. */
export type EntityContent = Readonly<Record<string, unknown>> & {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
};

/** An item that a site shows. */
export interface Entity {
  readonly type: string;
  readonly id: string;
  readonly content: EntityContent;
}

/** A site as it is stored. */
export interface SiteRecord {
  readonly id: string;
  readonly name: string;
  /** Public address, without a trailing slash. */
  readonly url: string;
  /** Minimum duration of a build. */
  readonly paceMs: number;
  readonly version: number;
  readonly entities: number;
  readonly createdAtMs: number;
  readonly current: { readonly job: string; readonly version: number } | undefined;
  readonly previous: string | undefined;
}

/** Types that change the site but have no page; they request no build. */
export const WITHOUT_PAGE: ReadonlySet<string> = new Set(['site-info', 'profile']);

export function asksForBuild(type: string): boolean {
  return !WITHOUT_PAGE.has(type);
}

/** An entity's name within its site. Types contain no slash, so the name is unambiguous. */
export function nameOf(type: string, id: string): string {
  return `${type}/${id}`;
}

export function readName(name: string): { type: string; id: string } {
  const slash = name.indexOf('/');
  return { type: name.slice(0, slash), id: name.slice(slash + 1) };
}
