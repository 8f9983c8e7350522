import type { z } from 'zod';
import type { StoreEnv } from './fields.js';

type StoreVariables = { [K in keyof typeof StoreEnv]: z.output<(typeof StoreEnv)[K]> };

/** Credentials for a Sentinel setup or a Cluster. */
export interface StoreLogin {
  readonly username?: string;
  readonly password?: string;
  readonly isEncrypted?: boolean;
}

interface Node {
  readonly host: string;
  readonly port: number;
}

export type StoreAddress =
  | { readonly via: 'url'; readonly url: string }
  | {
      readonly via: 'sentinel';
      readonly sentinels: Node[];
      readonly master: string;
      readonly login: StoreLogin;
    }
  | { readonly via: 'cluster'; readonly nodes: Node[]; readonly login: StoreLogin };

/** Runs cross-field checks even if a field is invalid, so that all problems are reported at once. */
export const ALWAYS = (): boolean => true;

/** Checks that at most one kind of store is configured, and completely. Use it as a zod `superRefine`. */
export function checkStoreVariables(env: Partial<StoreVariables>, context: z.core.$RefinementCtx): void {
  const ways = [env.REDIS_URL, env.REDIS_SENTINELS, env.REDIS_CLUSTER].filter((way) => way !== undefined);
  if (ways.length > 1) context.addIssue('set only one of REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER');
  if ((env.REDIS_SENTINELS === undefined) !== (env.REDIS_MASTER === undefined)) {
    context.addIssue('REDIS_SENTINELS and REDIS_MASTER are set together or not at all');
  }
}

/** The store that the environment names; undefined if it names none. */
export function storeAddress(env: Partial<StoreVariables>): StoreAddress | undefined {
  if (env.REDIS_URL) return { via: 'url', url: env.REDIS_URL };
  const login: StoreLogin = {
    ...(env.REDIS_USERNAME && { username: env.REDIS_USERNAME }),
    ...(env.REDIS_PASSWORD && { password: env.REDIS_PASSWORD }),
    ...(env.REDIS_TLS === 'on' && { isEncrypted: true }),
  };
  if (env.REDIS_CLUSTER) return { via: 'cluster', nodes: env.REDIS_CLUSTER, login };
  if (env.REDIS_SENTINELS && env.REDIS_MASTER) {
    return { via: 'sentinel', sentinels: env.REDIS_SENTINELS, master: env.REDIS_MASTER, login };
  }
  return undefined;
}

/** Address of the store without its password, for messages. */
export function describeAddress(address: StoreAddress): string {
  const list = (nodes: readonly Node[]): string => nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  switch (address.via) {
    case 'url': {
      const url = new URL(address.url);
      return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
    }
    case 'sentinel':
      return `${address.master} by Sentinel at ${list(address.sentinels)}`;
    case 'cluster':
      return `the Cluster at ${list(address.nodes)}`;
  }
}
