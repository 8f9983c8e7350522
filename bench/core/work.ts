import { randomUUID } from 'node:crypto';

export const QUEUE = 'bench';
export const PREFIX = '{bench}';
export const LOCK_MS = 30_000;
export const KEEP_AGE_S = 86_400;
export const KEEP_COUNT = 1_000;
export const PRIORITY = 100;

/** How many jobs one owner has. */
export type PerOwner = 1 | 100;

/** What a job carries: about 200 bytes, as a job that names a few things does. */
export interface Payload {
  readonly photoId: string;
  readonly bucket: string;
  readonly widths: number[];
  readonly formats: string[];
  readonly requestedBy: string;
}

export function payload(n: number): Payload {
  return {
    photoId: `photo-${String(n).padStart(10, '0')}`,
    bucket: 'media-eu-central-1-originals',
    widths: [320, 640, 1280, 2560],
    formats: ['avif', 'webp', 'jpeg'],
    requestedBy: '5f0c8d3e-1d0a-4c4e-9a55-0c7f7d8d2b11',
  };
}

/** Of the same length as an id of ours. */
export function plainJobId(): string {
  return `${QUEUE}-${randomUUID().replaceAll('-', '').slice(0, 20)}`;
}

/** What a handler does: nothing, or waiting for a while as one that asks another service does. */
export function work(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
