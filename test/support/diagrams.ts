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

/** A different graph each time, so that no earlier request matches. */
export function newGraph(): string {
  return `digraph { "${Math.random()}" -> b }`;
}

/** A complete graph: 20 nodes take a fifth of a second, 30 take seconds, 60 never finish. */
export function slowGraph(nodes = 60): string {
  const all = Array.from({ length: nodes }, (_, i) => `n${i}`).join(' ');
  return `digraph { "${Math.random()}"; {${all}} -> {${all}} }`;
}

/** A heavy type: every table refers to every other, which takes a moment. */
export function slowTables(count = 14): { readonly type: string; readonly source: string } {
  const names = Array.from({ length: count }, (_, i) => `t${i}`);
  const tables = names.map((name) => `Table ${name} {\n id int [note: '${Math.random()}']\n}`);
  const refs = names.flatMap((name, i) => names.slice(0, i).map((other) => `Ref: ${name}.id > ${other}.id`));
  return { type: 'dbml', source: [...tables, ...refs].join('\n') };
}

/** A valid source that cannot be drawn, because nothing is fetched for a drawing. */
export function undrawable(): { readonly type: string; readonly source: string } {
  const data = { url: `http://127.0.0.1:9/${Math.random()}.csv` };
  const source = JSON.stringify({ data, mark: 'bar', encoding: { x: { field: 'a', type: 'nominal' } } });
  return { type: 'vega-lite', source };
}

/** Requests a diagram, by default a small new graph. */
export function askFor(fleet: Fleet, more: object = {}): Promise<Answer> {
  return fleet.request('POST', '/v1/diagrams', { type: 'graphviz', source: newGraph(), ...more });
}

/** Requests a diagram that is accepted. */
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

/**
 * Waits until its run has passed the gate, so that a cancel reaches the run. A job that a worker has just
 * taken might be refused at the gate instead.
 */
export function untilDrawing(fleet: Fleet, id: string): Promise<DiagramSeen> {
  return until(async () => {
    const view = await viewDiagram(fleet, id);
    return view.state === 'rendering' && view.renderer !== null && view;
  }, `diagram ${id} is being drawn`);
}

export function picture(fleet: Fleet, link: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${fleet.url}/d/${link}`, { headers });
}

/** The renderer processes of a worker. */
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
