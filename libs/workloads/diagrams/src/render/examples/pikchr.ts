import { source, type Example } from './example.js';

const pikchr = source('pikchr');

export const PIKCHR: readonly Example[] = [
  {
    name: 'Compiler passes',
    ...pikchr`
      boxrad = 6px
      fill = 0xf2f7fc
      thickness = 1.3px
      SRC: file "source" "text" fit
      arrow 60%
      box "Scanner" fit width 1in
      arrow "tokens" above
      box "Parser" same
      arrow "tree" above
      OPT: box "Optimiser" same fill 0xfdf3e1
      arrow 60%
      cylinder "object" "code" fit
      arrow from OPT.s down 40% then left 1.2in then up until even with OPT.s
      text "again" at 0.12in below last arrow.s
    `,
  },
  {
    name: 'Request through a cache',
    ...pikchr`
      fill = 0xffffff
      CLIENT: oval "Client" fit width 1in fill 0xe8f1fb
      arrow right 1.1in "get" above
      CACHE: box "Cache" width 1in rad 8px fill 0xeaf6ea
      arrow right 1.1in "miss" above
      ORIGIN: cylinder "Origin" width 1in height 0.7in fill 0xfdf0e3
      arrow from ORIGIN.s down 0.35in then left until even with CACHE then to CACHE.s
      text "fill" at 0.14in below last arrow.s
      arrow from CACHE.nw + (0.1in, 0) up 0.35in then left until even with CLIENT then to CLIENT.n
      text "hit" with .s at 0.45in above CLIENT.ne + (0.4in, 0)
    `,
  },
];
