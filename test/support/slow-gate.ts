import type { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';

const EPOCH_CHECK = "if not allCurrent(mark, ref) then return 'cancelled' end";

interface Script {
  readonly lua: string;
  readonly numberOfKeys: number;
}
type Ask = (...args: unknown[]) => Promise<unknown>;

/**
 * Holds up what a client asks of the gate, as a process does that is paused before it fetches a job. Without its epoch check the gate
 * lets in what was cancelled meanwhile. @param redis one that the core's classes have been given
 */
export function slowGate(redis: Redis, pauseMs: () => number, hasEpochCheck = true): void {
  const { scriptsSet } = redis as unknown as { scriptsSet: Record<string, Script> };
  const gates = Object.entries(scriptsSet).filter(([, { lua }]) => lua.includes(EPOCH_CHECK));
  if (gates.length === 0) throw new Error('The gate compares epochs in other words.');
  const commands = redis as unknown as Record<string, Ask>;
  for (const [name, { lua, numberOfKeys }] of gates) {
    redis.defineCommand(name, { lua: hasEpochCheck ? lua : lua.replace(EPOCH_CHECK, ''), numberOfKeys });
    const ask = commands[name]!.bind(redis);
    commands[name] = async (...args) => {
      await pause(pauseMs());
      return ask(...args);
    };
  }
}
