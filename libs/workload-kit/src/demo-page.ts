import { ForEverybody } from '#http';
import { Controller, type Type } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { readFileSync } from 'node:fs';
import { SelfContainedPage, type PageParts } from './self-contained-page.js';

export interface DemoOptions extends Pick<PageParts, 'frames'> {
  /** What a text `'{{NAME}}'` of the page's script stands for. */
  readonly values?: Readonly<Record<string, unknown>>;
}

/**
 * The controller of a page to try a workload with, at `/demo/<name>`.
 *
 * @param module the `import.meta.url` of a file beside the page, `demo.html`. The page has one style and one script. Its
 *   content security policy allows nothing else.
 */
export function demoPage(name: string, module: string, { values = {}, ...more }: DemoOptions = {}): Type {
  const page = readFileSync(new URL('demo.html', module), 'utf8').replace(
    /'\{\{(\w+)\}\}'/g,
    (_, key: string) => inScript(values[key]),
  );

  @ApiExcludeController()
  @Controller(`demo/${name}`)
  @ForEverybody()
  class DemoController {
    @SelfContainedPage({ script: elementOf(page, 'script'), style: elementOf(page, 'style'), ...more })
    page(): string {
      return page;
    }
  }
  return DemoController;
}

function elementOf(page: string, tag: string): string {
  return page.slice(page.indexOf(`<${tag}>`) + tag.length + 2, page.indexOf(`</${tag}>`));
}

/** Escapes what would end the script element or a line. */
function inScript(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
