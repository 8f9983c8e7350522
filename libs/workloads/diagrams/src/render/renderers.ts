import { RendererBusy, RenderLimit } from './errors.js';
import { RENDER_LIMITS, type RenderLimits } from './limits.js';
import { Pool } from './pool/pool.js';
import type { DiagramType, Rendered, RenderRequest } from './types.js';

/** Draws diagrams in processes of their own, and hands back nothing but safe bytes. */
export class Renderers {
  private readonly limits: RenderLimits;
  private readonly light: Pool;

  constructor(options: Partial<RenderLimits> = {}) {
    this.limits = { ...RENDER_LIMITS, ...options };
    const { lightProcesses, idleMs, renders } = this.limits;
    this.light = new Pool({
      name: 'light',
      processes: lightProcesses,
      heapMb: 256,
      memoryMb: 512,
      flags: ['--disallow-code-generation-from-strings'],
      idleMs,
      renders,
    });
  }

  async render({ type, source, output }: RenderRequest, signal: AbortSignal): Promise<Rendered> {
    const drawn = await this.light.run({ do: 'draw', type, source }, this.limits.timeMs[type], signal);
    if (drawn.said !== 'drawn') throw new Error('never');
    if (output === 'png') throw new RendererBusy('png');
    return {
      bytes: Buffer.from(drawn.svg),
      contentType: 'image/svg+xml',
      renderer: await this.rendererOf(type),
    };
  }

  async check(type: DiagramType, source: string, signal: AbortSignal): Promise<void> {
    try {
      await this.light.run({ do: 'check', type, source }, this.limits.timeMs[type], signal);
    } catch (error) {
      if (!(error instanceof RenderLimit)) throw error;
    }
  }

  async rendererOf(type: DiagramType): Promise<string> {
    return type;
  }

  async close(): Promise<void> {
    await this.light.close();
  }
}
