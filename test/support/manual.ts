import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './process.js';

/** The page on operating a fleet. */
export const MANUAL = 'docs/operating.md';

/** A metric, as the manual lists it. */
export interface Metric {
  readonly type: string;
  readonly labels: string;
  readonly apps: string;
}

export function tableOf(manual: string): Map<string, Metric> {
  const rows = [...manual.matchAll(/^\| `(mooring_\w+)` \| (\w+) \| (.*?) ?\| ([\w, ]+) \|/gm)];
  return new Map(
    rows
      .map(([, name, type, labels, apps]): [string, Metric] => {
        const sorted = [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!).toSorted();
        return [name!, { type: type!, labels: sorted.join(', '), apps: apps!.trim() }];
      })
      .toSorted(byName),
  );
}

export function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Prometheus queries a histogram by its parts. */
export function withoutSuffix(name: string, known: readonly string[]): string {
  return known.includes(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
}

/** The sections of the manual, as links name them. */
export function anchors(): string[] {
  return [...read(MANUAL).matchAll(/^#+ (.+)$/gm)].map(([, title]) => anchorOf(title!));
}

/** The anchor that GitHub makes of a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

export function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
