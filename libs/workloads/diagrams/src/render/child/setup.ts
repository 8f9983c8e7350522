/** What a process is for: to draw, to draw with a browser, or to make safe what was drawn, with the fonts of that folder behind ours. */
export type Setup =
  | { readonly role: 'draw' }
  | { readonly role: 'browse'; readonly chromium: string }
  | { readonly role: 'finish'; readonly fonts?: string | undefined };
