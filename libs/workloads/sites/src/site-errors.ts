import { LifecycleError } from '#lifecycle';

/** The site does not exist or was deleted. */
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

/** The current build of the site has no such page. */
export class NoSuchPageError extends LifecycleError {
  readonly code = 'NOT_FOUND';

  constructor() {
    super('There is no such page.');
  }
}

/** The site has reached a limit; nothing was written. */
export class SiteFullError extends LifecycleError {
  readonly code = 'SITE_FULL';

  constructor(readonly what: 'entities' | 'bytes') {
    super(`The site has as many ${what} as it may. Delete some first.`);
  }
}

/** The entity exceeds the size limit; nothing was written. */
export class EntityTooLargeError extends LifecycleError {
  readonly code = 'TOO_LARGE';

  constructor(readonly limit: number) {
    super(`An entity has ${limit} bytes of JSON at most.`);
  }
}
