import type { RouteDescription } from '#http';

const DIAGRAM_ID = 'fb4ca0a74703a1a55a4918deff3b7dea';
const DIAGRAM_PARAMETER = { id: ['The id of the diagram.', DIAGRAM_ID] } as const;
const DIAGRAM = {
  id: DIAGRAM_ID,
  shortlink: 'f8mmzZdugCZfCX9IrL',
  url: '/d/f8mmzZdugCZfCX9IrL',
  state: 'pending',
  type: 'graphviz',
  output: 'svg',
  job: 'diagrams-41215e60e89c887ad7af',
  renderer: '@viz-js/viz 3.31.0',
  contentType: null,
  bytes: null,
  sha256: null,
  error: null,
  warnings: [],
  createdAt: '2026-03-01T09:30:00.000Z',
};
const DRAWN = {
  ...DIAGRAM,
  state: 'completed',
  contentType: 'image/svg+xml',
  bytes: 1184,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
};

export const DIAGRAMS = {
  ask: {
    id: 'createDiagram',
    summary: 'Request a diagram',
    body: { type: 'graphviz', source: 'digraph { ask -> draw -> show }', output: 'svg' },
    answers: { 202: DIAGRAM, 200: DRAWN },
    problems: [
      {
        code: 'INVALID_DIAGRAM',
        status: 422,
        detail: "syntax error in line 1 near '}'",
        members: { line: 1 },
      },
      'OWNER_CLOSED',
      'QUEUE_FULL',
      'OWNER_FULL',
    ],
  },
  read: {
    id: 'readDiagram',
    summary: 'Read the state of a diagram',
    description: 'Its bytes are at `url`.',
    parameters: DIAGRAM_PARAMETER,
    answers: { 200: DRAWN },
    problems: [{ code: 'NOT_FOUND', status: 404, detail: 'There is no such diagram.' }],
  },
} as const satisfies Record<string, RouteDescription>;
