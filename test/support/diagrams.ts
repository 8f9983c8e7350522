import { expect } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import type { Answer, Fleet } from './fleet.js';
import type { TestProcess } from './process.js';
import { until } from './until.js';

export interface DiagramSeen {
  readonly id: string;
  readonly shortlink: string;
  readonly state: string;
  readonly job: string | null;
  readonly renderer: string | null;
  readonly bytes: number | null;
  readonly warnings: readonly string[];
  readonly error: { readonly message: string; readonly line?: number; readonly column?: number } | null;
}

/** Different each time: nobody has asked for it before. */
export function newGraph(): string {
  return `digraph { "${Math.random()}" -> b }`;
}

/** Every node leads to every other: with 20 it takes a fifth of a second, with 30 some, and 60 nobody has seen drawn. */
export function slowGraph(nodes = 60): string {
  const all = Array.from({ length: nodes }, (_, i) => `n${i}`).join(' ');
  return `digraph { "${Math.random()}"; {${all}} -> {${all}} }`;
}

/** Of a heavy type: every table refers to every other. It takes a moment. */
export function slowTables(count = 14): { readonly type: string; readonly source: string } {
  const names = Array.from({ length: count }, (_, i) => `t${i}`);
  const tables = names.map((name) => `Table ${name} {\n id int [note: '${Math.random()}']\n}`);
  const refs = names.flatMap((name, i) => names.slice(0, i).map((other) => `Ref: ${name}.id > ${other}.id`));
  return { type: 'dbml', source: [...tables, ...refs].join('\n') };
}

/** It is well written, and cannot be drawn: nothing is fetched for a drawing. */
export function undrawable(): { readonly type: string; readonly source: string } {
  const data = { url: `http://127.0.0.1:9/${Math.random()}.csv` };
  const source = JSON.stringify({ data, mark: 'bar', encoding: { x: { field: 'a', type: 'nominal' } } });
  return { type: 'vega-lite', source };
}

/** Asks for one; by default a small graph that nobody has asked for before. */
export function askFor(fleet: Fleet, more: object = {}): Promise<Answer> {
  return fleet.request('POST', '/v1/diagrams', { type: 'graphviz', source: newGraph(), ...more });
}

/** One that is taken. */
export async function diagramOf(fleet: Fleet, more: object = {}): Promise<DiagramSeen> {
  const { status, body } = await askFor(fleet, more);
  expect({ status, body }).toMatchObject({ status: 202 });
  return body as unknown as DiagramSeen;
}

export async function viewDiagram(fleet: Fleet, id: string): Promise<DiagramSeen> {
  const { status, body } = await fleet.request('GET', `/v1/diagrams/${id}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as DiagramSeen;
}

export function untilDiagram(
  fleet: Fleet,
  id: string,
  state: string,
  withinMs?: number,
): Promise<DiagramSeen> {
  return until(
    async () => {
      const view = await viewDiagram(fleet, id);
      return view.state === state && view;
    },
    `diagram ${id} is ${state}`,
    withinMs,
  );
}

/** Its run has come through the gate: a cancel from now on is told to it. A job that a worker has just taken may be refused there. */
export function untilDrawing(fleet: Fleet, id: string): Promise<DiagramSeen> {
  return until(async () => {
    const view = await viewDiagram(fleet, id);
    return view.state === 'rendering' && view.renderer !== null && view;
  }, `diagram ${id} is being drawn`);
}

export function picture(fleet: Fleet, link: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${fleet.url}/d/${link}`, { headers });
}

/** The processes that a worker draws in. */
export function renderersOf({ pid }: TestProcess): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
