import { ForEverybody, Touches } from '#http';
import { Controller, Get, Header, type Type } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface DemoOptions {
  /** Whether it has frames, of the same origin. */
  readonly frames?: 'self';
  /** What a text `'{{NAME}}'` of the page's script stands for. */
  readonly values?: Readonly<Record<string, unknown>>;
}

/**
 * The controller of a page to try a workload with, at `/demo/<name>`.
 *
 * @param module the `import.meta.url` of a file beside the page, `demo.html`. The page has one style and one script. Its
 *   content security policy allows nothing else.
 */
export function demoPage(name: string, module: string, { values = {}, frames }: DemoOptions = {}): Type {
  const page = readFileSync(new URL('demo.html', module), 'utf8').replace(
    /'\{\{(\w+)\}\}'/g,
    (_, key: string) => inScript(values[key]),
  );

  @ApiExcludeController()
  @Controller(`demo/${name}`)
  @ForEverybody()
  @Touches('nothing')
  class DemoController {
    @Get()
    @Header('content-type', 'text/html; charset=utf-8')
    @Header('content-security-policy', policyOf(page, frames))
    @Header('x-content-type-options', 'nosniff')
    @Header('referrer-policy', 'no-referrer')
    @Header('cache-control', 'no-cache')
    page(): string {
      return page;
    }
  }
  return DemoController;
}

function policyOf(page: string, frames: DemoOptions['frames']): string {
  return [
    "default-src 'none'",
    `script-src '${digestOf(page, 'script')}'`,
    `style-src '${digestOf(page, 'style')}'`,
    'img-src data:',
    "connect-src 'self'",
    ...(frames ? [`frame-src '${frames}'`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Of the text of the page's only element of that tag. */
function digestOf(page: string, tag: string): string {
  const text = page.slice(page.indexOf(`<${tag}>`) + tag.length + 2, page.indexOf(`</${tag}>`));
  return `sha256-${hash('sha256', text, 'base64')}`;
}

/** Escapes what would end the script element or a line. */
function inScript(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
