import { ms, row } from '../harness/cells.js';
import type { DiagramType } from '#workloads/diagrams';

export interface OfType {
  readonly type: DiagramType;
  readonly fleetMs: number;
  readonly straightMs: number;
  readonly fleetRate: number;
  readonly straightRate: number;
}

export interface Figures {
  readonly turns: number;
  /** The first of all, when no process had drawn anything. */
  readonly firstMs: number;
  readonly types: readonly OfType[];
  readonly hitRate: number;
  readonly readRate: number;
}

const LIGHT: ReadonlySet<DiagramType> = new Set([
  'graphviz',
  'nomnoml',
  'wavedrom',
  'pikchr',
  'bytefield',
  'svgbob',
]);
const MOST_ADDED_MS = 10;

export function isLight(type: DiagramType): boolean {
  return LIGHT.has(type);
}

export function missedTargets({ types }: Figures): string[] {
  const added = addedMs(types);
  return added < MOST_ADDED_MS ? [] : [`${ms(added)} more for a light one, wanted < ${MOST_ADDED_MS} ms`];
}

export function table(figures: Figures, missed: readonly string[]): string {
  const { turns, types, firstMs, hitRate, readRate } = figures;
  return [
    row([`A picture, median of ${turns}`, 'the fleet', 'straight', 'it adds', 'fleet /s', 'straight /s']),
    ...types.map((of) =>
      row([
        `  ${of.type}`,
        ms(of.fleetMs),
        ms(of.straightMs),
        ms(of.fleetMs - of.straightMs),
        of.fleetRate.toFixed(0),
        of.straightRate.toFixed(0),
      ]),
    ),
    row(['what it adds to a light one, at most', ms(addedMs(types))]),
    row(['the first picture of all', ms(firstMs)]),
    row(['asked for again, from the cache', `${hitRate.toFixed(0)} /s`]),
    row(['read under its short link', `${readRate.toFixed(0)} /s`]),
    '',
    missed.length === 0 ? 'Every target holds.' : `Missed: ${missed.join('; ')}.`,
  ].join('\n');
}

/** To the light one that it adds most to. */
function addedMs(types: readonly OfType[]): number {
  const light = types.filter(({ type }) => isLight(type));
  return Math.max(...light.map(({ fleetMs, straightMs }) => fleetMs - straightMs));
}
