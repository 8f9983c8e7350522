/** What a caller says of an entity: any JSON object; its title and its body are texts. */
export type EntityContent = Readonly<Record<string, unknown>> & {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
};

/** A thing that a site shows. */
export interface Entity {
  readonly type: string;
  readonly id: string;
  readonly content: EntityContent;
}

/** A site, as it is written down. */
export interface SiteRecord {
  readonly id: string;
  readonly name: string;
  /** Where it is read, without a slash at its end. */
  readonly url: string;
  /** How long a build takes at least. */
  readonly paceMs: number;
  readonly version: number;
  readonly entities: number;
  readonly createdAtMs: number;
  readonly current: { readonly job: string; readonly version: number } | undefined;
  readonly previous: string | undefined;
}

/** They change the site, and have no page of their own; nothing is built for their sake. */
export const WITHOUT_PAGE: ReadonlySet<string> = new Set(['site-info', 'profile']);

export function asksForBuild(type: string): boolean {
  return !WITHOUT_PAGE.has(type);
}

/** An entity's name within its site. Types hold no slash. */
export function nameOf(type: string, id: string): string {
  return `${type}/${id}`;
}

export function readName(name: string): { type: string; id: string } {
  const slash = name.indexOf('/');
  return { type: name.slice(0, slash), id: name.slice(slash + 1) };
}
