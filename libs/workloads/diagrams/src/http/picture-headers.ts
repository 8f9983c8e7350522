import type { DiagramView } from '../diagram.js';
import type { Output } from '../render/types.js';

const TYPES: Readonly<Record<Output, string>> = { svg: 'image/svg+xml', png: 'image/png' };

const LONGEST_HEADER = 1_000;

/**
 * Pictures hold content of other people under our address. They were sanitized when drawn; opened directly
 * they may run and load nothing, and other pages may embed them. Clients must revalidate each time.
 */
const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  'sandbox',
].join('; ');

export function headersOf({
  output,
  shortlink,
  sha256,
  renderer,
  warnings,
}: DiagramView): Record<string, string> {
  return {
    'content-type': TYPES[output],
    'content-security-policy': POLICY,
    'content-disposition': `inline; filename="diagram-${shortlink.slice(0, 8)}.${output}"`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': 'no-cache',
    etag: `"${sha256}"`,
    ...(renderer !== null && { 'mooring-renderer': renderer }),
    ...(warnings.length > 0 && { 'mooring-warnings': headerOf(warnings) }),
  };
}

/** Restricted to header characters; the diagram's record has all warnings in full. */
function headerOf(warnings: readonly string[]): string {
  const text = warnings.join('; ').replace(/[^ -~]+/g, (other) => encodeURI(Buffer.from(other).toString()));
  return text.slice(0, LONGEST_HEADER);
}
