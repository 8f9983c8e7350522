import { expect, it } from 'vitest';
import { withKnownFonts } from './child/fonts.js';

it('does not change words that look like CSS when it replaces fonts', () => {
  const words = '<text>run --verbose: yes; @import x; /* all */ var(--a) font-family: Times;</text>';
  const drawing = (family: string): string =>
    `<svg><style>text{font-family:${family}}</style>${words}<g font-family="${family}"/></svg>`;
  const none = { families: new Set<string>(), files: [] };
  expect(withKnownFonts(drawing('Times'), none)).toBe(drawing('DejaVu Serif'));
});
