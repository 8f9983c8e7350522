import { source, type Example } from './example.js';

const nomnoml = source('nomnoml');

export const NOMNOML: readonly Example[] = [
  {
    name: 'Library',
    ...nomnoml`
      #fill: #eef4fb; #dbe8f6
      #stroke: #33526e
      #direction: right
      [Member|name: string;since: date|borrow();giveBack()]
      [Loan|due: date|extend()]
      [<abstract>Item|title: string|isFree()]
      [Book|isbn: string]
      [Film|minutes: int]
      [Member] - [Loan]
      [Loan] o-> [Item]
      [Item] <:- [Book]
      [Item] <:- [Film]
    `,
  },
  {
    name: 'Incident process',
    ...nomnoml`
      #fill: #fffaf0
      #stroke: #6b4f1d
      #arrowSize: 0.8
      [<start>alert] -> [Acknowledge]
      [Acknowledge] -> [<choice>Known?]
      [Known?] yes -> [Run the playbook]
      [Known?] no -> [<state>Investigate|
        [Read dashboards] -> [Form a theory]
        [Form a theory] -> [Test it]
      ]
      [Run the playbook] -> [Verify]
      [Investigate] -> [Verify]
      [Verify] -> [<end>closed]
    `,
  },
];
