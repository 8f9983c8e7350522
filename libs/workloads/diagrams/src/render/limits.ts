import type { DiagramType } from './types.js';

/** What a render may take, and how many may be under way. Each has a default. */
export interface RenderLimits {
  /** The longest source. */
  readonly sourceBytes: number;
  /** The largest drawing, as SVG and as PNG. */
  readonly outputBytes: number;
  /** The most pixels of a PNG: a larger drawing is drawn smaller. */
  readonly pixels: number;
  /** How long drawing may take, without the time in line. */
  readonly timeMs: Readonly<Record<DiagramType, number>>;
  /** How long making a drawing safe, and making a PNG of it, may take. */
  readonly finishMs: number;
  /** Time limit of a check; after it, errors are reported by the render. */
  readonly checkMs: number;
  /** Processes that share the light types; each heavy type has one of its own. */
  readonly lightProcesses: number;
  /** How many more of a weight may wait than are drawn at once. */
  readonly line: number;
  /** How long a process without work is kept. */
  readonly idleMs: number;
  /** After how many renders a process is replaced. */
  readonly renders: number;
  /** A browser for Mermaid; without it one is looked for, and with 'off' none is used. */
  readonly chromium: string | undefined;
  /** A folder of fonts for letters of a PNG that ours lack. */
  readonly fonts: string | undefined;
}

export const RENDER_LIMITS: RenderLimits = {
  sourceBytes: 1_048_576,
  outputBytes: 8_000_000,
  pixels: 16_000_000,
  timeMs: {
    graphviz: 5_000,
    mermaid: 15_000,
    d2: 15_000,
    nomnoml: 5_000,
    'vega-lite': 10_000,
    wavedrom: 5_000,
    pikchr: 5_000,
    bytefield: 5_000,
    svgbob: 5_000,
    dbml: 10_000,
  },
  finishMs: 10_000,
  checkMs: 5_000,
  lightProcesses: 2,
  line: 32,
  idleMs: 60_000,
  renders: 500,
  chromium: undefined,
  fonts: undefined,
};
