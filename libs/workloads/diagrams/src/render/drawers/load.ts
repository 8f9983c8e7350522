import type { DiagramType } from '../types.js';
import type { Drawer } from './drawer.js';

/** What draws: a type, or one of the three ways of Mermaid. */
export type DrawerName =
  Exclude<DiagramType, 'mermaid'> | 'mermaid-chromium' | 'mermaid-jsdom' | 'mermaid-syntax';

type Loads = () => Promise<{ load(): Drawer | Promise<Drawer> }>;

const DRAWERS: Record<DrawerName, Loads> = {
  graphviz: () => import('./graphviz.js'),
  nomnoml: () => import('./nomnoml.js'),
  wavedrom: () => import('./wavedrom.js'),
  pikchr: () => import('./pikchr.js'),
  bytefield: () => import('./bytefield.js'),
  svgbob: () => import('./svgbob.js'),
  dbml: () => import('./dbml.js'),
  'vega-lite': () => import('./vega-lite.js'),
  d2: () => import('./d2.js'),
  'mermaid-chromium': () => import('./mermaid/chromium.js'),
  'mermaid-jsdom': () => import('./mermaid/jsdom.js'),
  'mermaid-syntax': () => import('./mermaid/syntax.js'),
};

const loaded = new Map<DrawerName, Promise<Drawer>>();

/** Loaded when it is first asked for. */
export function drawerOf(name: DrawerName): Promise<Drawer> {
  let drawer = loaded.get(name);
  if (!drawer) {
    drawer = DRAWERS[name]().then((module) => module.load());
    loaded.set(name, drawer);
  }
  return drawer;
}
