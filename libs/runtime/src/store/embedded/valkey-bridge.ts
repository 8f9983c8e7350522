import type { Socket } from 'node:net';

import { HostSockets } from './host-sockets.js';
import { loadValkey, type Valkey } from './valkey-wasm.js';

const TURN_MS = 4;
const TICK_MS = 10;

/** One Valkey in this process: sockets go in by `adopt`, and its event loop turns whenever one of them moves. */
export class ValkeyBridge {
  private readonly sockets = new HostSockets(() => this.wake());
  private valkey!: Valkey;
  private tick: NodeJS.Timeout | undefined;
  private isTurnDue = false;
  private lastWarning = '';

  /** `onEnd` is called once, when the server is gone: with a ValkeyExit if it ended itself, else with what broke it. */
  constructor(private readonly onEnd: (cause: unknown) => void) {}

  /** What Valkey warned of last: often the cause of its end. */
  get warning(): string {
    return this.lastWarning;
  }

  /** Resolves when the server answers; sockets adopted before wait until then. */
  async boot(port: number): Promise<void> {
    this.valkey = await loadValkey(
      (memory) => this.sockets.imports(memory),
      (text) => this.remember(text),
    );
    this.valkey.boot(port);
    // Timeouts of blocked clients and expiring keys are only looked at in a turn.
    this.tick = setInterval(() => {
      this.valkey.clock.adjust();
      this.turn();
    }, TICK_MS);
    this.wake();
  }

  adopt(socket: Socket): void {
    this.sockets.adopt(socket);
  }

  close(): void {
    clearInterval(this.tick);
    this.tick = undefined;
    this.sockets.close();
  }

  // setImmediate runs after every socket that has data was heard, so one turn serves them all.
  private wake(): void {
    if (this.isTurnDue) return;
    this.isTurnDue = true;
    setImmediate(() => {
      this.isTurnDue = false;
      this.turn();
    });
  }

  /**
   * Valkey writes the replies of one step at the start of the next, so a turn goes on until a step had nothing to do.
   * A turn that takes long lets the sockets be heard in between.
   */
  private turn(): void {
    if (!this.tick) return;
    const until = performance.now() + TURN_MS;
    try {
      while (this.step() > 0) {
        if (performance.now() > until) return this.wake();
      }
    } catch (cause) {
      this.close();
      this.onEnd(cause);
    }
  }

  private step(): number {
    const handled = this.valkey.step();
    this.sockets.flush();
    return handled;
  }

  // "#" marks a warning in Valkey's log. Other lines are ignored.
  private remember(text: string): void {
    const warning = /^\d+:\S+ .*? # (.*)/.exec(text)?.[1];
    if (warning) this.lastWarning = warning;
  }
}
