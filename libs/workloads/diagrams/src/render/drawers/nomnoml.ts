import nomnoml from 'nomnoml';
import { DiagramInvalid, type Place } from '../errors.js';
import type { Drawer } from './drawer.js';

export function load(): Drawer {
  const draw = (source: string): string => {
    try {
      return nomnoml.renderSvg(source);
    } catch (error) {
      const { message, line, column } = error as Error & Place;
      throw typeof line === 'number' ? new DiagramInvalid(message, { line, column }) : error;
    }
  };
  return { draw, check: (source) => void draw(source) };
}
