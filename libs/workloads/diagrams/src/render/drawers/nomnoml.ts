import nomnoml from 'nomnoml';
import { DiagramInvalid, type Place } from '../errors.js';
import type { Drawer } from './drawer.js';

export function load(): Drawer {
  const draw = (source: string): string => {
    try {
      return withContent(nomnoml.renderSvg(source));
    } catch (error) {
      const { message, line, column } = error as Error & Place;
      throw typeof line === 'number' ? new DiagramInvalid(message, { line, column }) : error;
    }
  };
  return { draw, check: (source) => void draw(source) };
}

/** Of directives alone it draws a picture without a size. */
function withContent(svg: string): string {
  if (!/^<svg\b[^>]* width="0\.0"/.test(svg)) return svg;
  throw new DiagramInvalid('Nothing is drawn: the source has directives only.');
}
