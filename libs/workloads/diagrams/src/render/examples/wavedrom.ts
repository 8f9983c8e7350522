import { source, type Example } from './example.js';

const wavedrom = source('wavedrom');

export const WAVEDROM: readonly Example[] = [
  {
    name: 'Bus handshake',
    ...wavedrom`
      {
        signal: [
          { name: 'clk', wave: 'p.........' },
          ['Master',
            { name: 'valid', wave: '01...0.1.0', node: '.a' },
            { name: 'data', wave: 'x3...x.4.x', data: ['A0', 'B1'] },
          ],
          {},
          ['Slave',
            { name: 'ready', wave: '0..1.0.1.0', node: '...b' },
            { name: 'count', wave: '=....=.=..', data: ['0', '1', '2'] },
          ],
        ],
        edge: ['a~>b wait'],
        head: { text: 'Valid and ready', tick: 0 },
      }
    `,
  },
  {
    name: 'Instruction word',
    ...wavedrom`
      {
        reg: [
          { bits: 7, name: 'opcode', attr: ['OP-IMM'], type: 8 },
          { bits: 5, name: 'rd', attr: ['dest'], type: 2 },
          { bits: 3, name: 'funct3', attr: ['ADDI'], type: 8 },
          { bits: 5, name: 'rs1', attr: ['src'], type: 4 },
          { bits: 12, name: 'imm[11:0]', attr: ['I-immediate'], type: 3 },
        ],
        config: { hspace: 900 },
      }
    `,
  },
];
