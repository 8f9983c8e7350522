import type { DiagramType } from '../types.js';
import type { Drawer } from './drawer.js';

const DRAWERS: Record<DiagramType, () => Promise<{ load(): Drawer | Promise<Drawer> }>> = {
  graphviz: () => import('./graphviz.js'),
  nomnoml: () => import('./nomnoml.js'),
} as never;

const loaded = new Map<DiagramType, Promise<Drawer>>();

/** The drawer of a type, loaded when it is first asked for. */
export function drawerOf(type: DiagramType): Promise<Drawer> {
  let drawer = loaded.get(type);
  if (!drawer) {
    drawer = DRAWERS[type]().then((module) => module.load());
    loaded.set(type, drawer);
  }
  return drawer;
}
