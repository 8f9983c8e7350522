import { describe, expect, it } from 'vitest';
import { dangersIn } from '../../../../../../test/support/dangers.js';
import { safeSvg } from './safe-svg.js';

const XMLNS = 'xmlns="http://www.w3.org/2000/svg"';
const svg = (inner: string, attributes = ''): string => `<svg ${XMLNS}${attributes}>${inner}</svg>`;

describe('a safe picture', () => {
  it('keeps harmless elements', () => {
    const inner =
      '<title>A &lt; B</title><defs><marker id="m" refX="1"><path d="M0 0"></path></marker></defs>' +
      '<style>.a &gt; text{fill:red;font-family:&quot;DejaVu Sans&quot;}</style>' +
      '<g class="a" transform="translate(1 2)"><path d="M0 0" marker-end="url(#m)"></path><text x="1">a &amp; b</text></g>';
    expect(safeSvg(svg(inner))).toBe(svg(inner.replace('.a &gt; text', '.a&gt;text')));
  });

  const hostile: [what: string, inner: string][] = [
    ['a script', '<script>alert(1)</script>'],
    ['a script with a prefix', '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>'],
    ['a handler', '<g onload="alert(1)" ONCLICK="alert(1)"><rect width="1"/></g>'],
    ['a script link', '<a href="javascript:alert(1)"><text>x</text></a>'],
    ['a disguised script link', '<a xlink:href=" java&#9;script:alert(1)"><text>x</text></a>'],
    ['a data link', '<a href="data:text/html,x"><text>x</text></a>'],
    ['an animated link', '<a><animate attributeName="href" values="javascript:alert(1)"/><text>x</text></a>'],
    ['a set link', '<a href="#a"><set attributeName="href" to="javascript:alert(1)"/></a>'],
    ['an outside picture', '<image href="http://evil.test/a.png"/>'],
    ['a picture of a file', '<image xlink:href="file:///etc/passwd"/>'],
    ['a picture that is a drawing', '<image href="data:image/svg+xml;base64,PHN2Zy8+"/>'],
    ['an outside part', '<use href="http://evil.test/a.svg#b"/>'],
    ['an outside filter picture', '<filter id="f"><feImage href="http://evil.test/a"/></filter>'],
    [
      'an HTML label',
      '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="alert(1)"/></body></foreignObject>',
    ],
    ['an import', '<style>@import url(http://evil.test/a.css); a{fill:red}</style>'],
    ['an import of a string', "<style>@import 'http://evil.test/a.css';</style>"],
    ['an import in capitals and escapes', '<style>@\\69MPORT "http://evil.test";</style>'],
    ['an outside font', '<style>@font-face{font-family:a;src:url(http://evil.test/a.woff)}</style>'],
    ['an outside fill', '<rect fill="url(http://evil.test/a#b)"/>'],
    ['an outside fill with escapes', '<rect fill="u\\72l(http://evil.test/a#b)"/>'],
    ['an outside style', '<rect style="fill:url(//evil.test/a);background-image:url(http://evil.test)"/>'],
    ['an image set', '<rect style="background:image-set(\'http://evil.test/a\' 1x)"/>'],
    ['a variable that loads', '<style>svg{--a:url(http://evil.test);background:var(--a)}</style>'],
    ['an expression', '<rect style="width:expression(alert(1))"/>'],
    ['a style in a style', '<style><style>a{}</style>@import url(http://evil.test/a.css);</style>'],
    ['a group in a style', '<style>a{}<g><style>b{}</style></g>@import url(http://evil.test/a);</style>'],
    [
      'a label in a style',
      '<style><foreignObject><p>@import url(http://evil.test/a);</p></foreignObject>@import "x";</style>',
    ],
    ['a style that ends early', '<style>a{}&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;</style>'],
    ['text that looks like a script', '<text>&lt;script&gt;alert(1)&lt;/script&gt;</text>'],
    ['a comment', '<!--><script>alert(1)</script>--><text>x</text>'],
    ['a section', '<text><![CDATA[<script>alert(1)</script>]]></text>'],
    ['an embedded page', '<iframe src="http://evil.test"/><embed src="x"/><object data="x"/>'],
  ];
  it.each(hostile)('contains nothing of %s', (_, inner) => {
    const drawn = svg(inner, ' xmlns:xlink="http://www.w3.org/1999/xlink"');
    expect(dangersIn(safeSvg(drawn))).toEqual([]);
  });

  const hidden = /escapes|early|disguised|looks like|comment|section/;
  it.each(hostile.filter(([what]) => !hidden.test(what)))('is needed against %s', (_, inner) => {
    const drawn = svg(inner, ' xmlns:xlink="http://www.w3.org/1999/xlink"');
    expect(dangersIn(drawn)).not.toEqual([]);
  });

  it('defines no entities and follows no processing instruction', () => {
    const bomb = `<!DOCTYPE svg [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>${svg('<text>&c;</text>')}`;
    expect(() => safeSvg(bomb)).toThrow('not well-formed');
    expect(safeSvg(`<?xml-stylesheet href="http://evil.test"?><!DOCTYPE svg>${svg('')}`)).toBe(svg(''));
  });

  it('is refused when it is not well-formed or not an SVG', () => {
    expect(() => safeSvg(svg('<g><text></g>'))).toThrow('not well-formed');
    expect(() => safeSvg('<html/>')).toThrow('Nothing is drawn');
    expect(() => safeSvg('')).toThrow('not well-formed');
  });

  it('keeps links that a reader may follow, without a referrer', () => {
    const kept = ['http://a.test/?a=1&amp;b=2', 'https://a.test', 'mailto:a@b.test'];
    for (const href of kept) {
      expect(safeSvg(svg(`<a xlink:href="${href}"></a>`))).toBe(
        svg(`<a href="${href}" rel="noopener noreferrer nofollow"></a>`),
      );
    }
    expect(safeSvg(svg('<a href=" https://a.test/?q=a b  c "></a>'))).toContain(
      '"https://a.test/?q=a%20b%20%20c"',
    );
    expect(safeSvg(svg('<a href="java script:alert(1)"><text>x</text></a>'))).not.toContain('href');
    expect(safeSvg(svg('<a href="ftp://a.test"><text>x</text></a>'))).toBe(svg('<g><text>x</text></g>'));
  });

  it('shows the words of an HTML label as plain text', () => {
    const label =
      '<foreignObject x="10" y="0" width="80" height="40"><div><p>one &amp; two</p><p>three<script>x()</script></p></div></foreignObject>';
    expect(safeSvg(svg(label)).match(/>([^<]+)<\/text>/g)).toEqual([
      '>one &amp; two</text>',
      '>three</text>',
    ]);
  });

  it('marks the place of a forbidden image and reports it', () => {
    const warnings: string[] = [];
    const image = (href: string, place: string): string => `<image href="${href}" ${place}/>`;
    const at = 'x="10" y="20" width="30.5" height="40" transform="scale(2)"';
    const inner =
      image('https://a.test/i.svg', at) + image('data:image/svg+xml;base64,PHN2Zy8+', 'width="x"');
    expect(safeSvg(svg(inner), (text) => warnings.push(text))).toBe(
      svg(
        '<path class="image-left-out" d="M10 20h30.5v40h-30.5zl30.5 40m0 -40l-30.5 40" fill="none" stroke="#9aa5b1" transform="scale(2)"></path>',
      ),
    );
    expect(warnings).toEqual([
      'An image is left out, since images are not fetched: https://a.test/i.svg',
      'An image is left out: only PNG, JPEG, GIF and WebP may be embedded.',
    ]);
    const label = '<foreignObject><img src="https://a.test/b.png"/></foreignObject>';
    safeSvg(svg(label), (text) => warnings.push(text));
    expect(warnings[2]).toContain('https://a.test/b.png');
  });

  it('has the size of its drawing', () => {
    expect(safeSvg(svg('', ' width="100%" viewBox="0 0 30 20"'))).toBe(
      svg('', ' width="30" viewBox="0 0 30 20" height="20"'),
    );
    expect(safeSvg(svg('', ' width="3pt" height="2pt" viewBox="0 0 30 20"'))).toContain('width="3pt"');
  });

  it('has a limited number of elements', () => {
    expect(safeSvg(svg('<g></g>'.repeat(99_999)))).toContain('</svg>');
    expect(() => safeSvg(svg('<g></g>'.repeat(100_000)))).toThrow('too many elements');
    expect(safeSvg(svg('<g>'.repeat(199) + '</g>'.repeat(199)))).toContain('</svg>');
    expect(() => safeSvg(svg('<g>'.repeat(200) + '</g>'.repeat(200)))).toThrow('too deep');
  });

  it('may not reference itself repeatedly', () => {
    const use = (id: string): string => `<use href="#${id}"/>`.repeat(10);
    const levels = (deep: number): string =>
      Array.from({ length: deep }, (_, at) => `<g id="n${at + 1}">${use(`n${at}`)}</g>`).join('');
    expect(safeSvg(svg(`<rect id="n0"/>${levels(3)}`))).toContain('</svg>');
    expect(() => safeSvg(svg(`<rect id="n0"/>${levels(9)}`))).toThrow('too much of itself');
    expect(() => safeSvg(svg('<g id="a"><use href="#a"/></g>'))).toThrow('too much of itself');
    for (const how of ['url(#a)', 'URL(#a)', "url( '#a')"]) {
      const pattern = svg(`<pattern id="a"><rect fill="${how}"/></pattern>`);
      expect(() => safeSvg(pattern)).toThrow('too much of itself');
    }
  });

  it('may reference parts from its style sheet, counted once per element, but never within themselves', () => {
    const styled = (name: string, inner: string, sheet: string, shown = '<rect class="a"/>'): string =>
      svg(`<defs><${name} id="a">${inner}</${name}></defs><style>${sheet}</style>${shown}`);
    const fill = '.a{fill:url(#a)}';
    const drawn = [
      styled('marker', '<path/>', '.a{marker-end:url(#a)}'),
      styled('marker', '<path class="a"/>', 'rect.a, .b > .a{marker-end:url(#a)}'),
      styled('linearGradient', '<stop/>', '.a{fill:URL("#a")}'),
      styled('linearGradient', '<stop/>', '*{fill:url(#a)}'),
      styled('pattern', '<rect class="b"/>', fill),
      styled('pattern', '<rect class="b"/>', '#r:hover{fill:url(#a)}', '<rect id="r"/>'),
      styled('pattern', '<path/>', 'g > rect{fill:url(#a)}'),
      styled('mask', '<rect/>', '.a{mask:URL(#a)}'),
      styled('pattern', '<path/>'.repeat(1_000), fill, '<rect class="a"/>'.repeat(100)),
    ];
    for (const drawing of drawn) expect(safeSvg(drawing)).toContain('url(#a)');
    const tooMuch = [
      styled('pattern', '<rect class="a"/>', fill),
      styled('pattern', '<g><rect class="b a"/></g>', '@media print{.x, g > .a:hover{fill:url(#a)}}'),
      styled('pattern', '<rect/>', 'rect{fill:url(#a)}'),
      styled('pattern', '<rect/>', '*{fill:url(#a)}'),
      styled('pattern', '<rect/>', ':not(.b){fill:url(#a)}'),
      styled('pattern', '<rect/>', '[class]{fill:url(#a)}'),
      styled('pattern', '<rect class="a:b"/>', '.a\\:b{fill:url(#a)}'),
      styled('pattern', '<rect class="b"/>', '.a{--p:url(#a)}.b{fill:var(--p)}'),
      styled('pattern', '<path/>'.repeat(1_000), fill, '<rect class="a"/>'.repeat(1_000)),
      styled('marker', '<path/>'.repeat(1_000), '*{marker-end:url(#a)}'),
    ];
    for (const drawing of tooMuch) expect(() => safeSvg(drawing)).toThrow('too much of itself');
  });

  it('drops functions that are written with escapes', () => {
    const escaped = 'u\\72l(#a)';
    expect(safeSvg(svg(`<rect fill="${escaped}"/>`))).toBe(svg('<rect></rect>'));
    expect(safeSvg(svg(`<style>a{fill:${escaped}}</style>`))).not.toContain('#a');
    expect(safeSvg(svg(`<rect style="fill:${escaped}"/>`))).not.toContain('#a');
  });
});
