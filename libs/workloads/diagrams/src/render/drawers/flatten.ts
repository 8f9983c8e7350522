import { inMarkup } from '../markup.js';

/*
 * beautiful-mermaid colours by CSS variables and `color-mix`, which only browsers know. Here both become plain colours.
 */

type Variables = ReadonlyMap<string, string>;

const CUSTOM = /(--[\w-]+)\s*:\s*([^;{}"]+)/g;
const VALUE = /var\(\s*(--[\w-]+)\s*(?:,\s*((?:[^()]|\([^()]*\))*))?\)/g;
const MIX = /color-mix\(\s*in srgb\s*,\s*(#[\da-f]{3,8})\s+([\d.]+)%\s*,\s*(#[\da-f]{3,8})\s*\)/gi;
const DEEPEST = 8;

export function flatten(svg: string): string {
  const plain = inMarkup(svg, (markup) =>
    markup.replace(/@import[^;]*;(?=\s)/g, '').replace(/\/\*[^]*?\*\//g, ''),
  );
  const variables = new Map<string, string>();
  inMarkup(plain, (markup) => {
    for (const [, name = '', value = ''] of markup.matchAll(CUSTOM)) variables.set(name, value.trim());
    return markup;
  });
  return inMarkup(plain, (markup) => resolved(markup, variables).replace(CUSTOM, ''));
}

/** From the inside out, as variables stand for other variables. */
function resolved(text: string, variables: Variables): string {
  let flat = text;
  for (let depth = 0; depth < DEEPEST && /var\(|color-mix\(/.test(flat); depth += 1) {
    flat = flat
      .replace(VALUE, (_, name: string, otherwise = 'none') => variables.get(name) ?? String(otherwise))
      .replace(MIX, (_, one: string, percent: string, other: string) =>
        mixed(one, Number(percent) / 100, other),
      );
  }
  return flat;
}

function mixed(one: string, share: number, other: string): string {
  const [a, b] = [channels(one), channels(other)];
  return `#${a.map((value, at) => hex(value * share + b[at]! * (1 - share))).join('')}`;
}

function channels(colour: string): number[] {
  const digits = colour.slice(1);
  const pairs =
    digits.length < 6 ? digits.split('').map((digit) => digit + digit) : (digits.match(/../g) ?? []);
  return pairs.slice(0, 3).map((pair) => parseInt(pair, 16));
}

function hex(value: number): string {
  return Math.round(value).toString(16).padStart(2, '0');
}
