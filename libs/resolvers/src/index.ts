export { ConfiguredResolvers, type UnprovenFact } from './configured-resolvers.js';
export { HttpResolver, type HttpResolverOptions } from './http/http-resolver.js';
export { resolversEnv } from './owner-resolvers-file.js';
export type { OwnerResolverSettings, ResolverSettings } from './settings.js';
export { SqlResolver, type SqlResolverOptions } from './sql/sql-resolver.js';
