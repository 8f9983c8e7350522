/** What an answer says to a browser unless its route says otherwise: show it in no frame, run nothing, guess no type. */
export const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};
