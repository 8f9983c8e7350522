import { escaped } from '../escape.js';
import { safeAttribute } from './attribute.js';

const LONGEST_ADDRESS = 200;

/** What a caller is told of an image that may not stay. */
export function imageLeftOut(href: string): string {
  if (/^\s*data:/i.test(href)) return 'An image is left out: only PNG, JPEG, GIF and WebP may be embedded.';
  return `An image is left out, since images are not fetched: ${href.trim().slice(0, LONGEST_ADDRESS)}`;
}

/** A crossed box where an image would be; nothing when its place or its size is not given as numbers. */
export function placeholderFor(attributes: Readonly<Record<string, string>>): string {
  const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) => Number(attributes[name] ?? 0));
  if (![x, y].every(Number.isFinite) || !(width! > 0 && height! > 0)) return '';
  const path = `M${x} ${y}h${width}v${height}h-${width}zl${width} ${height}m0 -${height}l-${width} ${height}`;
  const transform = safeAttribute('path', 'transform', attributes['transform'] ?? '')?.[1];
  const moved = transform ? ` transform="${escaped(transform)}"` : '';
  return `<path class="image-left-out" d="${path}" fill="none" stroke="#9aa5b1"${moved}></path>`;
}
