import { inMarkup } from '../markup.js';

/*
 * What draws a PNG reads only whole numbers in `rgb()` and whole degrees in `hsl()`, and makes all others black. Here they become
 * hexadecimal.
 */

const COLOUR = /\b(rgb|hsl)a?\(([^()]*)\)/gi;
const SEPARATOR = /[\s,/]+/;
const DEGREES: Record<string, number> = { '': 1, deg: 1, grad: 0.9, rad: 180 / Math.PI, turn: 360 };

export function withPlainColours(svg: string): string {
  return inMarkup(svg, (markup) =>
    markup.replace(COLOUR, (colour, model: string, list: string) => {
      const [a = '', b = '', c = '', alpha = '1'] = list.trim().split(SEPARATOR);
      const channels = /hsl/i.test(model) ? fromHsl(a, b, c) : [a, b, c].map((each) => share(each, 255));
      const all = alpha === '1' ? channels : [...channels, share(alpha, 1)];
      return all.every(Number.isFinite) ? `#${all.map(hex).join('')}` : colour;
    }),
  );
}

/** Of 1. */
function share(value: string, whole: number): number {
  const number = value.endsWith('%') ? Number(value.slice(0, -1)) / 100 : Number(value || NaN) / whole;
  return Math.min(1, Math.max(0, number));
}

function fromHsl(hue: string, saturation: string, lightness: string): number[] {
  const [, number, unit = ''] = /^([-+.\de]*\d)([a-z]*)$/i.exec(hue) ?? [];
  const degrees = Number(number ?? NaN) * (DEGREES[unit.toLowerCase()] ?? NaN);
  const [s, l] = [saturation, lightness].map((each) => share(each, 100)) as [number, number];
  const reach = s * Math.min(l, 1 - l);
  return [0, 8, 4].map((offset) => {
    const at = (((offset + degrees / 30) % 12) + 12) % 12;
    return l - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1));
  });
}

function hex(channel: number): string {
  return Math.round(channel * 255)
    .toString(16)
    .padStart(2, '0');
}
