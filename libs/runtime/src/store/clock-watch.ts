import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../log/log.js';
import type { StoreConnection } from './connect.js';

const LOOK_EVERY_MS = 60_000;
/** An answer that took longer is too imprecise. */
const SLOW_MS = 1_000;
/** A larger difference is not drift but a clock that was never set. */
const WRONG_S = 2;

/**
 * Measures how far this process's clock is ahead of the store's. Mooring decides by the store's clock, but BullMQ releases
 * delayed jobs by the clock of a worker.
 */
export class ClockWatch {
  private readonly ahead: Gauge;
  private readonly timer: NodeJS.Timeout;
  private isWrong = false;

  constructor(
    private readonly redis: StoreConnection,
    private readonly log: Log,
    registry: Registry,
  ) {
    this.ahead = new Gauge({
      name: 'mooring_clock_ahead_seconds',
      help: 'How far the clock of this process is ahead of the clock of the store.',
      registers: [registry],
    });
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  /** Never rejects: other components report an unavailable store. */
  async look(): Promise<void> {
    if (this.redis.status !== 'ready') return;
    const asked = Date.now();
    const time = await this.redis.time().catch(() => undefined);
    const answered = Date.now();
    if (!time || answered - asked > SLOW_MS) return;
    const [seconds, micros] = time.map(Number) as [number, number];
    this.note((asked + answered) / 2_000 - (seconds + micros / 1e6));
  }

  close(): void {
    clearInterval(this.timer);
  }

  private note(aheadS: number): void {
    this.ahead.set(aheadS);
    const isWrong = Math.abs(aheadS) > WRONG_S;
    if (isWrong && !this.isWrong) this.log.warn({ event: 'clock.wrong', aheadS }, said(aheadS));
    this.isWrong = isWrong;
  }
}

function said(aheadS: number): string {
  const how = `${Math.abs(Math.round(aheadS))} s ${aheadS > 0 ? 'ahead of' : 'behind'} the store's`;
  return `The clock of this machine is ${how}: delayed jobs come too ${aheadS > 0 ? 'early' : 'late'} where it looks for them. Set it.`;
}
