import { createRequire } from 'node:module';
import { DiagramInvalid } from '../errors.js';
import type { Drawer } from './drawer.js';

type Skin = Record<string, unknown>;

interface WaveDrom {
  renderAny(index: number, source: object, skins: Skin): unknown;
  readonly onml: { stringify(tree: unknown): string };
}

interface Json5 {
  parse(text: string): unknown;
}

const SKINS = ['default', 'narrow', 'narrower', 'narrowerer', 'lowkey', 'dark'];
const PARTS = ['signal', 'reg', 'assign'];

export function load(): Drawer {
  const require = createRequire(import.meta.url);
  const wavedrom = require('wavedrom') as WaveDrom;
  // Its own reader: the language is what that accepts.
  const json5 = createRequire(require.resolve('wavedrom'))('json5') as Json5;
  const skins = Object.assign(
    {},
    ...SKINS.map((name) => require(`wavedrom/skins/${name}.js`) as Skin),
  ) as Skin;

  const read = (source: string): object => {
    const tree = parse(json5, source);
    if (isDrawable(tree)) return tree;
    throw new DiagramInvalid(`It needs one of ${PARTS.join(', ')}, as a list.`);
  };
  return {
    draw: (source) => wavedrom.onml.stringify(wavedrom.renderAny(0, read(source), skins)),
    check: (source) => void read(source),
  };
}

function isDrawable(tree: unknown): tree is object {
  return (
    typeof tree === 'object' &&
    tree !== null &&
    PARTS.some((part) => Array.isArray(tree[part as keyof object]))
  );
}

function parse(json5: Json5, source: string): unknown {
  try {
    return json5.parse(source);
  } catch (error) {
    const { message, lineNumber, columnNumber } = error as Error & Record<string, number>;
    throw new DiagramInvalid(message, { line: lineNumber, column: columnNumber });
  }
}
