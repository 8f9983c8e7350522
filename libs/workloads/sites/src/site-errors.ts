import { WorkloadError } from '#workload-kit';

export class NoSuchSiteError extends WorkloadError {
  constructor() {
    super(404, 'NOT_FOUND', 'There is no site of that id.');
  }
}

/** The site has no such entity; nothing has changed. */
export class NoSuchEntityError extends WorkloadError {
  constructor() {
    super(404, 'NOT_FOUND', 'The site has no such entity.');
  }
}

export class NoSuchPageError extends WorkloadError {
  constructor() {
    super(404, 'NOT_FOUND', 'There is no such page.');
  }
}

/** The site has reached a limit; nothing was written. */
export class SiteFullError extends WorkloadError {
  constructor(what: 'entities' | 'bytes') {
    super(409, 'SITE_FULL', `The site has as many ${what} as it may. Delete some first.`);
  }
}

/** The entity exceeds the size limit; nothing was written. */
export class EntityTooLargeError extends WorkloadError {
  constructor(limit: number) {
    super(413, 'TOO_LARGE', `An entity has ${limit} bytes of JSON at most.`);
  }
}
