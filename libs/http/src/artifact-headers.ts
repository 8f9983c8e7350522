import type { Artifact, ArtifactRange } from '#nestjs';

/** Content types that a browser does not execute. All others are sent as application/octet-stream. */
const HARMLESS =
  /^(text\/(plain|csv)|application\/(json|pdf|zip|gzip)|image\/(png|jpeg|gif|webp|avif)|audio\/mpeg|video\/mp4)$/;

export interface ArtifactLink extends Artifact {
  readonly href: string;
}

export function linkTo(path: string, jobId: string, artifact: Artifact): ArtifactLink {
  const href = `${path}/v1/jobs/${encodeURIComponent(jobId)}/artifacts/${encodeURIComponent(artifact.name)}`;
  return { ...artifact, href };
}

/** Untrusted bytes on our origin: browsers must save them and never render or run them. */
export function headersOf({ name, contentType, sha256 }: Artifact): Record<string, string> {
  const [type = ''] = contentType.split(';');
  return {
    'content-type': HARMLESS.test(type) ? contentType : 'application/octet-stream',
    'content-disposition': disposition(name),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    etag: `"${sha256}"`,
  };
}

/** RFC 6266: an ASCII name for old clients, and the full name. */
function disposition(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, '_');
  const whole = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

/** Whether the caller has a copy of this tag already, as its If-None-Match says. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes('*') || tags.includes(`"${etag}"`);
}

/**
 * The requested range; `none` if it begins after the end. Undefined means the whole artifact: no range, several ranges, an
 * invalid one, or an If-Range of other content.
 */
export function rangeOf(
  range: string | undefined,
  ifRange: string | undefined,
  { size, sha256 }: Artifact,
): ArtifactRange | 'none' | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  if (ifRange !== undefined && ifRange !== `"${sha256}"`) return undefined;
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return first > last ? 'none' : { first, last };
}
