import type { Cluster, Redis } from 'ioredis';
import { readArtifactsUrl, type ArtifactsAddress } from './address.js';
import type { ArtifactsEnv } from './artifacts-env.js';
import { Artifacts } from './artifacts.js';
import { pathOf, type ByteStore } from './stores/byte-store.js';
import { FileStore } from './stores/file-store.js';
import { S3Store } from './stores/s3-store.js';

/** The artifacts of a fleet: what there is in Redis, their bytes where the URL says. */
export function openArtifacts(
  url: string | ArtifactsAddress,
  redis: Redis | Cluster,
  prefix: string,
  env: Partial<ArtifactsEnv> = {},
): Artifacts {
  const address = typeof url === 'string' ? readArtifactsUrl(url) : url;
  return new Artifacts(redis, prefix, openBytes(address, pathOf(prefix), env));
}

function openBytes(address: ArtifactsAddress, prefix: string, env: Partial<ArtifactsEnv>): ByteStore {
  if (address.via === 'file') return new FileStore(address.folder, prefix);
  // A key of the URL's own is a pair, and does not go with another's token.
  const isPaired = address.accessKey !== undefined;
  const accessKey = isPaired ? address.accessKey : env.AWS_ACCESS_KEY_ID;
  const secretKey = isPaired ? address.secretKey : env.AWS_SECRET_ACCESS_KEY;
  const sessionToken = isPaired ? undefined : env.AWS_SESSION_TOKEN;
  if (!accessKey || !secretKey)
    throw new TypeError(
      'The object store needs a key: in ARTIFACTS_URL, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  return new S3Store({ ...address, accessKey, secretKey, ...(sessionToken && { sessionToken }) }, prefix);
}
