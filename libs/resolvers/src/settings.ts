import type { HttpResolverOptions } from './http/http-resolver.js';
import type { SqlResolverOptions } from './sql/sql-resolver.js';

/** How the owners of one type are asked for. */
export type ResolverSettings =
  ({ readonly via: 'http' } & HttpResolverOptions) | ({ readonly via: 'sql' } & SqlResolverOptions);

/** By owner type. */
export type OwnerResolverSettings = ReadonlyMap<string, ResolverSettings>;
