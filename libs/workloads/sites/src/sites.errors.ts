import { LifecycleError } from '#lifecycle';

/** There is no site of that id; perhaps there is none any more. */
export class NoSuchSiteError extends LifecycleError {
  readonly code = 'NOT_FOUND';

  constructor() {
    super('There is no site of that id.');
  }
}

/** The site has no such entity; nothing has changed. */
export class NoSuchEntityError extends LifecycleError {
  readonly code = 'NOT_FOUND';

  constructor() {
    super('The site has no such entity.');
  }
}

/** What readers get of the site has no such page. */
export class NoSuchPageError extends LifecycleError {
  readonly code = 'NOT_FOUND';

  constructor() {
    super('There is no such page.');
  }
}

/** The site has as much as it may; nothing was written. */
export class SiteFullError extends LifecycleError {
  readonly code = 'SITE_FULL';

  constructor(readonly what: 'entities' | 'bytes') {
    super(`The site has as many ${what} as it may. Delete some first.`);
  }
}

/** The entity is larger than one may be; nothing was written. */
export class EntityTooLargeError extends LifecycleError {
  readonly code = 'TOO_LARGE';

  constructor(readonly limit: number) {
    super(`An entity has ${limit} bytes of JSON at most.`);
  }
}
