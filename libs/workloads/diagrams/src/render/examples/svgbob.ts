import { source, type Example } from './example.js';

const svgbob = source('svgbob');

export const SVGBOB: readonly Example[] = [
  {
    name: 'Two zones',
    ...svgbob`
      +----------------------+        +----------------------+
      |        Zone A        |        |        Zone B        |
      |  +-------+           |        |           +-------+  |
      |  |  API  |---+       |        |       +---|  API  |  |
      |  +-------+   |       |        |       |   +-------+  |
      |              v       |        |       v              |
      |        .---------.   |  copy  |   .---------.        |
      |        | primary |------------>   | standby |        |
      |        '---------'   |        |   '---------'        |
      +----------------------+        +----------------------+
                 ^                               ^
                 |         .----------.          |
                 +---------| balancer |----------+
                           '----------'
    `,
  },
  {
    name: 'Retry loop',
    ...svgbob`
          o
          |
          v
      .-------.   fails   .---------.
      |  try  |---------->|  wait   |
      '-------'           '---------'
        |   ^                  |
        |   |    after 2^n s   |
        |   +------------------+
        |
        | works
        v
      .-------.
      | done  |
      '-------'
    `,
  },
];
