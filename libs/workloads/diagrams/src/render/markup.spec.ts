import { describe, expect, it } from 'vitest';
import { withKnownFonts } from './child/fonts.js';
import { flatten } from './drawers/flatten.js';

describe('words that look like CSS', () => {
  const words = '<text>run --verbose: yes; @import x; /* all */ var(--a) font-family: Times;</text>';

  it('stay when variables become colours', () => {
    const drawing = `<svg style="--a: #fff"><style>@import url(x); .a { --b: var(--a); fill: var(--b) } /* c */</style>${words}<g fill="var(--a)"/></svg>`;
    const flat = flatten(drawing);
    expect(flat).toContain(words);
    expect(flat).toContain('fill: #fff');
    expect(flat).toContain('<g fill="#fff"/>');
    expect(flat.replace(words, '')).not.toMatch(/--|@import|\/\*|var\(/);
  });

  it('stay when fonts are replaced by ours', () => {
    const drawing = (family: string): string =>
      `<svg><style>text{font-family:${family}}</style>${words}<g font-family="${family}"/></svg>`;
    const none = { families: new Set<string>(), files: [] };
    expect(withKnownFonts(drawing('Times'), none)).toBe(drawing('DejaVu Serif'));
  });
});
