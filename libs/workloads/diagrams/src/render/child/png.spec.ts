import { describe, expect, it } from 'vitest';
import { inkIn } from '../../../../../../test/support/ink.js';
import { safeSvg } from '../safe/safe-svg.js';
import { pngOf } from './png.js';

const HEAD = '<path d="M0 0L10 5L0 10Z"/>';

/** Parsed and serialized first, as before drawing. */
const drawn = (inside: string): Buffer => pngOf(safeSvg(svg(inside)), 1_000_000);
const svg = (inside: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="40">${inside}</svg>`;
const line = (from: number, to: number, marker: string): string =>
  `<path d="M${from} 20H${to}" stroke="#000" ${marker}/>`;
const head = (orient: string, place = 'refX="10" refY="5" markerWidth="10" markerHeight="10"'): string =>
  `<defs><marker id="head" ${place} orient="${orient}">${HEAD}</marker></defs>`;

describe('a PNG shows like a browser', () => {
  it('arrows that point to the left', () => {
    const left = line(80, 20, 'marker-end="url(#head)"');
    expect(drawn(head('auto-start-reverse') + left)).toEqual(drawn(head('auto') + left));
    expect(drawn(head('0') + left)).not.toEqual(drawn(head('auto') + left));
  });

  it.each([
    ['plain', undefined],
    ['scaled', 'refX="10" refY="5" markerWidth="20" markerHeight="20" viewBox="-5 -5 20 20"'],
    ['off its middle', 'refX="3" refY="5" markerWidth="12" markerHeight="10"'],
  ])('arrows in both directions with one head: %s', (_, place) => {
    const both = drawn(
      head('auto-start-reverse', place) + line(20, 80, 'marker-start="url(#head)" marker-end="url(#head)"'),
    );
    const two = line(50, 20, 'marker-end="url(#head)"') + line(50, 80, 'marker-end="url(#head)"');
    expect(both).toEqual(drawn(head('auto', place) + two));
  });

  it('arrows at the start of a line from a style sheet', () => {
    const sheet = '<style>path.a{marker-start:url("#head")}</style>';
    const said = drawn(sheet + head('auto-start-reverse') + line(20, 80, 'class="a"'));
    expect(said).toEqual(drawn(head('auto') + line(80, 20, 'marker-end="url(#head)"')));
  });

  it('text without a size, as large as browsers draw it', () => {
    const text = (size: string): Buffer => drawn(`<text x="5" y="20"${size}>Words</text>`);
    expect(text('')).toEqual(text(' font-size="16"'));
  });

  it('the style of a font that the picture contains', () => {
    const text = (style: string): Buffer =>
      drawn(`<style>.t{${style}}</style><text class="t" x="5" y="20">Words</text>`);
    for (const [name, style] of [
      ['bold', 'font-weight:bold'],
      ['semibold', 'font-weight:bold'],
      ['italic', 'font-style:italic'],
    ]) {
      expect(text(`font-family:&quot;d2-1-font-${name}&quot;`)).toEqual(text(`font-family:Arial;${style}`));
      expect(text(`font-family:d2-1-font-${name}`)).not.toEqual(text('font-family:Arial'));
    }
  });

  it('what a rule says about all its selectors, even next to unknown ones', () => {
    const square = (sheet: string): Buffer =>
      drawn(`<style>${sheet}</style><g><rect id="my-end" class="a" width="30" height="30"/></g>`);
    const hollow = square('.a{fill:none;stroke:#000}');
    for (const odd of ['[id$="x"]', '[id^="x"]', '.b~.c', ':not(g)', '.b:nth-child(2)', 'a::before'])
      expect(square(`${odd},g&gt;.a{fill:none;stroke:#000}`)).toEqual(hollow);
    expect(square('[id$="-end"]{fill:none;stroke:#000}')).toEqual(hollow);
    expect(square('[id$="-other"]{fill:none;stroke:#000}')).not.toEqual(hollow);
  });

  it.each([
    ['hsl(40.5, 100%, 50%)', '#ffac00'],
    ['hsl(-319.5deg 100% 50%)', '#ffac00'],
    ['hsla(40.5, 100%, 50%, 0.5)', '#ffac0080'],
    ['rgb(12.6, 99.4, 200)', '#0d63c8'],
    ['rgba(20%, 40%, 60%, 1)', '#336699'],
  ])('colours that are not whole numbers: %s', (colour, same) => {
    const square = (fill: string): Buffer => drawn(`<rect width="30" height="30" fill="${fill}"/>`);
    const sheet = (fill: string): Buffer =>
      drawn(`<style>rect{fill:${fill}}</style><rect width="30" height="30"/>`);
    expect(square(colour)).toEqual(square(same));
    expect(sheet(colour)).toEqual(sheet(same));
  });

  it('words that look like a colour', () => {
    const text = (words: string): Buffer => drawn(`<text x="2" y="20" font-size="8">${words}</text>`);
    expect(text('hsl(40.5,9%,9%)')).not.toEqual(text('#191816'));
  });

  it('lines with a negative width from a rule', () => {
    const lines = (rule: string): Buffer =>
      drawn(`<style>.a{stroke:#000;stroke-width:4}${rule}</style><path class="a" d="M0 20H90"/>`);
    expect(lines('.a{stroke-width:-1;opacity:1}')).toEqual(lines(''));
  });

  it('a white background', () => {
    expect(inkIn(drawn('<rect width="10" height="10"/>')).share).toBeCloseTo(100 / 4_000, 3);
  });
});
