import type { DiagramType } from './types.js';

const TIME_MS: Readonly<Record<DiagramType, number>> = {
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
};

/** What a render may take, and how many may be under way. */
export const RENDER_LIMITS = {
  /** The longest source. */
  sourceBytes: 1_048_576,
  /** The largest drawing, as SVG and as PNG. */
  outputBytes: 8_000_000,
  /** The most pixels of a PNG: a larger drawing is drawn smaller. */
  pixels: 16_000_000,
  /** How long drawing may take, without the time in line. */
  timeMs: TIME_MS,
  /** How long making a drawing safe, and making a PNG of it, may take. */
  finishMs: 10_000,
  /** Time limit of a check; after it, errors are reported by the render. */
  checkMs: 5_000,
  /** Processes that share the light types; each heavy type has one of its own. */
  lightProcesses: 2,
  /** How many more of a weight may wait than are drawn at once. */
  line: 32,
  /** How long a process without work is kept. */
  idleMs: 60_000,
  /** After how many renders a process is replaced. */
  renders: 500,
  /** A browser for Mermaid; without it one is looked for, and with 'off' none is used. */
  chromium: undefined as string | undefined,
  /** A folder of fonts for letters of a PNG that ours lack. */
  fonts: undefined as string | undefined,
};
export type RenderLimits = Readonly<typeof RENDER_LIMITS>;
