import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { S3Address } from './stores/s3-client.js';

type Key = 'accessKey' | 'secretKey';

export type ArtifactsAddress =
  | { readonly via: 'file'; readonly folder: string }
  | ({ readonly via: 's3' } & Omit<S3Address, Key> & Partial<Pick<S3Address, Key>>);

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Reads `file:folder`, or `s3://key:secret@host:port/bucket?region=…&tls=off`; throws when it is neither. */
export function readArtifactsUrl(text: string): ArtifactsAddress {
  if (text.startsWith('file://')) return { via: 'file', folder: fileURLToPath(text) };
  if (/^file:./.test(text)) return { via: 'file', folder: resolve(text.slice('file:'.length)) };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const bucket = url?.pathname.slice(1) ?? '';
  if (url?.protocol !== 's3:' || !url.hostname || !BUCKET.test(bucket))
    throw new TypeError('expected file:folder, or s3://key:secret@host:port/bucket?region=…&tls=off');
  const isEncrypted = url.searchParams.get('tls') !== 'off';
  return {
    via: 's3',
    host: url.hostname,
    port: Number(url.port) || (isEncrypted ? 443 : 80),
    isEncrypted,
    bucket,
    region: url.searchParams.get('region') ?? 'us-east-1',
    ...(url.username && {
      accessKey: decodeURIComponent(url.username),
      secretKey: decodeURIComponent(url.password),
    }),
  };
}
