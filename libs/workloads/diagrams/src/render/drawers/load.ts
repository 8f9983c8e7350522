import type { DiagramType } from '../types.js';
import type { Drawer } from './drawer.js';

/** What draws: a type, or one of the three ways of Mermaid. */
export type DrawerName =
  Exclude<DiagramType, 'mermaid'> | 'mermaid-chromium' | 'mermaid-jsdom' | 'mermaid-syntax';

/** Drawers of one weight share processes: the light ones do, so that a heavy one takes no turn or memory from others. */
export type Weight = 'light' | 'dbml' | 'vega' | 'd2' | 'mermaid' | 'syntax';

interface Entry {
  readonly weight: Weight;
  /** The package that draws. */
  readonly from: string;
  /** How, if there are several ways. */
  readonly way?: string;
  load(): Promise<{ load(): Drawer | Promise<Drawer> }>;
}

export const DRAWERS: Readonly<Record<DrawerName, Entry>> = {
  graphviz: { weight: 'light', from: '@viz-js/viz', load: () => import('./graphviz.js') },
  nomnoml: { weight: 'light', from: 'nomnoml', load: () => import('./nomnoml.js') },
  wavedrom: { weight: 'light', from: 'wavedrom', load: () => import('./wavedrom.js') },
  pikchr: { weight: 'light', from: 'pikchr-js', load: () => import('./pikchr.js') },
  bytefield: { weight: 'light', from: 'bytefield-svg', load: () => import('./bytefield.js') },
  svgbob: { weight: 'light', from: 'svgbob-wasm', load: () => import('./svgbob.js') },
  dbml: { weight: 'dbml', from: '@softwaretechnik/dbml-renderer', load: () => import('./dbml.js') },
  'vega-lite': { weight: 'vega', from: 'vega-lite', load: () => import('./vega-lite.js') },
  d2: { weight: 'd2', from: '@terrastruct/d2', load: () => import('./d2.js') },
  'mermaid-chromium': {
    weight: 'mermaid',
    from: 'mermaid',
    way: 'chromium',
    load: () => import('./mermaid/chromium.js'),
  },
  'mermaid-jsdom': {
    weight: 'mermaid',
    from: 'mermaid',
    way: 'jsdom',
    load: () => import('./mermaid/jsdom.js'),
  },
  'mermaid-syntax': { weight: 'syntax', from: 'mermaid', load: () => import('./mermaid/syntax.js') },
};

const loaded = new Map<DrawerName, Promise<Drawer>>();

/** Loaded when it is first asked for. */
export function drawerOf(name: DrawerName): Promise<Drawer> {
  const drawer = loaded.get(name) ?? DRAWERS[name].load().then((module) => module.load());
  loaded.set(name, drawer);
  return drawer;
}
