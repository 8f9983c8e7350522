import { applyDecorators, Get, Header } from '@nestjs/common';
import { hash } from 'node:crypto';

/** Contents of a page and the source of its frames. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
  readonly frames?: 'self';
}

/** Serves a page whose policy allows only its own inline script and style. */
export function SelfContainedPage(parts: PageParts): MethodDecorator {
  return applyDecorators(
    Get(),
    Header('content-type', 'text/html; charset=utf-8'),
    Header('content-security-policy', policyOf(parts)),
    Header('x-content-type-options', 'nosniff'),
    Header('referrer-policy', 'no-referrer'),
    Header('cache-control', 'no-cache'),
  );
}

function policyOf({ script, style, frames }: PageParts): string {
  return [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    'img-src data:',
    "connect-src 'self'",
    ...(frames ? [`frame-src '${frames}'`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function digestOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`;
}
