/** Draws sources of one type. Its module is loaded in a process of its own, and only when it is needed. */
export interface Drawer {
  /** Draws unsanitized SVG. @throws DiagramInvalid */
  draw(source: string): string | Promise<string>;
  /** Only looks whether it could be drawn. Where every text is a drawing there is nothing to look at. @throws DiagramInvalid */
  readonly check?: (source: string) => void | Promise<void>;
}
