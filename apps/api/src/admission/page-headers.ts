/** Default headers, which routes may override: no frames, no scripts, no content sniffing. */
export const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};
