/** Draws sources of one type. Its module is loaded in a process of its own, and only when it is needed. */
export interface Drawer {
  /** The drawing, as SVG that nobody has made safe yet. @throws DiagramInvalid */
  draw(source: string): string | Promise<string>;
  /** Only looks whether it could be drawn. Types of which every text is a drawing have none. @throws DiagramInvalid */
  check?(source: string): void | Promise<void>;
}
