import { createRequire } from 'node:module';
import { DiagramInvalid } from '../errors.js';
import type { Drawer } from './drawer.js';

type Bytefield = (source: string, options: { embedded: boolean }) => string;

export function load(): Drawer {
  const bytefield = createRequire(import.meta.url)('bytefield-svg') as Bytefield;
  const draw = (source: string): string => {
    try {
      return bytefield(source, { embedded: true });
    } catch (error) {
      throw isOfItsReader(error) ? invalid(error as Error) : error;
    }
  };
  return { draw, check: (source) => void draw(source) };
}

function isOfItsReader(error: unknown): boolean {
  return error instanceof Error && 'data' in error && !/call stack|allocation/i.test(error.message);
}

function invalid({ message }: Error): DiagramInvalid {
  const [place, line, column] = /\[at line (\d+), column (\d+)\]/.exec(message) ?? [];
  if (!place) return new DiagramInvalid(message);
  const plain = message.replace(place, '').trim();
  return new DiagramInvalid(plain, { line: Number(line), column: Number(column) });
}
