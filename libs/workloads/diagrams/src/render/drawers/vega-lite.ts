import { logger, None, parse, View, type Loader } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { DiagramInvalid, type Place } from '../errors.js';
import type { Drawer } from './drawer.js';

export function load(): Drawer {
  return { draw, check: (source) => void compiled(source) };
}

async function draw(source: string): Promise<string> {
  const refused: string[] = [];
  const view = new View(parse(compiled(source)), {
    renderer: 'none',
    loader: inlineOnly(refused),
    logger: logger(None),
  });
  try {
    const svg = await view.toSVG();
    if (refused.length === 0) return svg;
  } finally {
    view.finalize();
  }
  throw new DiagramInvalid(`Put its data into the source: ${refused[0]} is not fetched.`);
}

function compiled(source: string): ReturnType<typeof compile>['spec'] {
  const spec = read(source);
  try {
    return compile(spec, { logger: logger(None) }).spec;
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new DiagramInvalid((error as Error).message);
  }
}

function read(source: string): TopLevelSpec {
  let spec: unknown;
  try {
    spec = JSON.parse(source);
  } catch (error) {
    const { message } = error as Error;
    throw new DiagramInvalid(message, placeInJson(source, message));
  }
  if (typeof spec === 'object' && spec && !Array.isArray(spec)) return spec as TopLevelSpec;
  throw new DiagramInvalid('It is not a JSON object.');
}

/** Where a JSON text is broken, if its reader told: by its offset, or because it is cut short. */
function placeInJson(source: string, message: string): Place {
  const end = message.includes('end of JSON input') ? source.trimEnd().length : undefined;
  const at = /\bat position (\d+)/.exec(message)?.[1] ?? end;
  if (at === undefined) return {};
  const before = source.slice(0, Number(at)).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

/** Reads nothing. Links go out as they are and are looked at with the rest of the drawing. */
function inlineOnly(refused: string[]): Loader {
  const refuse = (uri: string): Promise<never> => {
    refused.push(uri.slice(0, 200));
    return Promise.reject(new Error('Nothing is fetched.'));
  };
  return {
    options: {},
    load: refuse,
    file: refuse,
    http: refuse,
    sanitize: (uri, options) =>
      (options as { context?: string }).context === 'href' || uri.startsWith('data:')
        ? Promise.resolve({ href: uri })
        : refuse(uri),
  } as Loader;
}
