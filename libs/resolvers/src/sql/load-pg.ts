import { createRequire } from 'node:module';
import type pg from 'pg';

/** The driver is only installed where it is wanted. */
export function loadPg(require = createRequire(import.meta.url)): typeof pg {
  try {
    return require('pg') as typeof pg;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    const why = 'it needs the package pg, which is not installed: npm install pg';
    throw new Error(why, { cause: error });
  }
}
