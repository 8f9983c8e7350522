import { createHmac, hash } from 'node:crypto';

export interface Signer {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

export interface Unsigned {
  readonly method: string;
  /** Path as sent. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** All headers are signed. Names must be in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payloadSha256: string;
}

export const SHA256_OF_NOTHING = hash('sha256', '');

/** Headers of an S3 request, signed with AWS Signature Version 4. */
export function sign(request: Unsigned, signer: Signer, at: Date): Record<string, string> {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-content-sha256': request.payloadSha256,
    'x-amz-date': time,
    ...(signer.sessionToken && { 'x-amz-security-token': signer.sessionToken }),
  };
  const names = Object.keys(headers).toSorted();
  const signed = names.join(';');
  const canonical = [
    request.method,
    request.path,
    queryText(request.query),
    ...names.map((name) => `${name}:${headers[name]!.trim()}`),
    '',
    signed,
    request.payloadSha256,
  ].join('\n');
  const parts = [time.slice(0, 8), signer.region, 's3', 'aws4_request'];
  const scope = parts.join('/');
  const text = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', canonical)].join('\n');
  const key = parts.reduce<string | Buffer>(hmac, `AWS4${signer.secretKey}`);
  const signature = hmac(key, text).toString('hex');
  const credential = `Credential=${signer.accessKey}/${scope}`;
  headers['authorization'] =
    `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${signed}, Signature=${signature}`;
  return headers;
}

/** Query string in canonical order and escaping, as it is signed. */
export function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${escape(name)}=${escape(value)}`)
    .toSorted()
    .join('&');
}

function escape(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
