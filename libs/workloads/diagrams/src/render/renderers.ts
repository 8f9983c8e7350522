import { findChromium } from './browser/find-chromium.js';
import { DRAWERS, type DrawerName, type Weight } from './drawers/load.js';
import { DiagramInvalid, RendererBusy, RenderLimit } from './errors.js';
import { RENDER_LIMITS, type RenderLimits } from './limits.js';
import type { Pool } from './pool/pool.js';
import { poolsFor } from './pool/pools.js';
import type { Answer } from './pool/words.js';
import { CONTENT_TYPES, type DiagramType, type Output, type Rendered, type RenderRequest } from './types.js';
import { rendererName } from './versions.js';

interface Options extends Partial<RenderLimits> {
  readonly warn?: (text: string) => void;
}

const OPEN =
  'Chromium runs without its own sandbox here, which needs user namespaces and another user than root; what else is around it stays.';

/**
 * Draws diagrams in processes of their own, which start when they are needed, and hands back nothing but safe bytes.
 *
 * What draws never says what is safe: another process looks at every drawing.
 */
export class Renderers {
  private readonly limits: RenderLimits;
  private readonly chromium: Promise<string | undefined>;
  private readonly pools: Promise<Record<Weight | 'finish', Pool>>;
  private readonly underWay = new Map<Weight, number>();

  constructor({ warn, ...limits }: Options = {}) {
    this.limits = { ...RENDER_LIMITS, ...limits };
    this.chromium = findChromium(this.limits.chromium);
    let isSaid = false;
    const onOpen = (): void => {
      if (!isSaid) warn?.(OPEN);
      isSaid = true;
    };
    this.pools = this.chromium.then((chromium) => poolsFor(this.limits, chromium, onOpen));
  }

  /** @throws DiagramInvalid, RenderLimit, RendererBusy, or the signal's reason. */
  async render({ type, source, output }: RenderRequest, signal: AbortSignal): Promise<Rendered> {
    this.checkSize(source);
    const drawer = await this.drawerOf(type);
    return this.admitted(drawer, type, async () => {
      const svg = await this.draw(drawer, type, source, signal);
      const finished = await this.finish(svg, output, signal);
      return { ...finished, contentType: CONTENT_TYPES[output], renderer: rendererName(drawer) };
    });
  }

  /**
   * Checks whether a source can be drawn. One that takes too long to check is accepted, and its render
   * decides. @throws DiagramInvalid
   */
  async check(type: DiagramType, source: string, signal: AbortSignal, begun?: () => void): Promise<void> {
    this.checkSize(source);
    const drawer = checkerOf(type);
    try {
      await this.admitted(drawer, type, () =>
        this.run(DRAWERS[drawer].weight, { do: 'check', drawer, source }, this.limits.checkMs, signal, begun),
      );
    } catch (error) {
      if (error instanceof RenderLimit || error instanceof RendererBusy) return;
      throw error;
    }
  }

  /** Whether there is a process that can look at such a source; else one is to start and load what it needs. */
  async canCheck(type: DiagramType): Promise<boolean> {
    const drawer = checkerOf(type);
    return (await this.pools)[DRAWERS[drawer].weight].has(drawer);
  }

  /** What draws this type here: with another version, or another way, it may look different. */
  async rendererOf(type: DiagramType): Promise<string> {
    return rendererName(await this.drawerOf(type));
  }

  /** Ends every process, and with it what is under way. */
  async close(): Promise<void> {
    await Promise.all(Object.values(await this.pools).map((pool) => pool.close()));
  }

  private checkSize(source: string): void {
    const { sourceBytes } = this.limits;
    const bytes = Buffer.byteLength(source);
    if (bytes > sourceBytes)
      throw new RenderLimit('size', `The source has ${bytes} bytes; ${sourceBytes} are allowed.`);
    if (source.trim() === '') throw new DiagramInvalid('The source is empty.', { line: 1, column: 1 });
  }

  private async drawerOf(type: DiagramType): Promise<DrawerName> {
    if (type !== 'mermaid') return type;
    return (await this.chromium) ? 'mermaid-chromium' : 'mermaid-jsdom';
  }

  /** Counted until it is finished, so that the line for finishing is no longer than those before it. */
  private async admitted<T>(drawer: DrawerName, type: DiagramType, work: () => Promise<T>): Promise<T> {
    const weight = DRAWERS[drawer].weight;
    const before = this.underWay.get(weight) ?? 0;
    const most = this.limits.line + (weight === 'light' ? this.limits.lightProcesses : 1);
    if (before >= most) throw new RendererBusy(type);
    this.underWay.set(weight, before + 1);
    try {
      return await work();
    } finally {
      this.underWay.set(weight, this.underWay.get(weight)! - 1);
    }
  }

  private async draw(
    drawer: DrawerName,
    type: DiagramType,
    source: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { outputBytes, timeMs } = this.limits;
    const task = { do: 'draw', drawer, source, outputBytes } as const;
    const drawn = await this.run(DRAWERS[drawer].weight, task, timeMs[type], signal);
    return drawn.said === 'drawn' ? drawn.svg : strange(drawn);
  }

  private async finish(
    svg: string,
    output: Output,
    signal: AbortSignal,
  ): Promise<Pick<Rendered, 'bytes' | 'warnings'>> {
    const { outputBytes, pixels, finishMs } = this.limits;
    // A renderer may not have checked the size, and sanitizing hardly changes it.
    if (svg.length > outputBytes)
      throw new RenderLimit('size', `The drawing has more than ${outputBytes} bytes.`);
    const task = { do: 'finish', svg, output, outputBytes, pixels } as const;
    const finished = await this.run('finish', task, finishMs, signal);
    if (finished.said !== 'finished') return strange(finished);
    return { bytes: Buffer.from(finished.bytes), warnings: finished.warnings };
  }

  private async run(weight: Weight | 'finish', ...task: Parameters<Pool['run']>): Promise<Answer> {
    return (await this.pools)[weight].run(...task);
  }
}

function checkerOf(type: DiagramType): DrawerName {
  return type === 'mermaid' ? 'mermaid-syntax' : type;
}

function strange({ said }: Answer): never {
  throw new RenderLimit('process', `Its process said "${said}" to something else.`);
}
