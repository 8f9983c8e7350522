import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Args, ScriptRunner } from './script-runner.js';
import { stateOf } from './sent-twice.js';
import { ENDINGS } from './endings.js';
import type { Situation } from './situations.js';
import { hold, violationOf } from './violation.js';

/** Values that are not what any script keeps there; each makes some commands fail. */
const WRONG: readonly ((redis: Redis, key: string) => Promise<unknown>)[] = [
  (redis, key) => redis.set(key, 'text'),
  (redis, key) => redis.rpush(key, 'list'),
  (redis, key) => redis.sadd(key, 'set'),
  (redis, key) => redis.xadd(key, '*', 'stream', '1'),
];

const GARBAGE = ['', 'x', 'nan', 'inf', '1.5', '-', ' ', '{}', '0x', '1e999'];

/** F36: a script that fails has written nothing. Reports the first that has, of all ways in which this call can fail. */
export function harmOf(run: ScriptRunner, redis: Redis, situation: Situation): Promise<string | undefined> {
  return violationOf(async () => {
    let failed = 0;
    for (const harm of [...wrongTypes(redis), ...wrongArguments(situation.args)]) {
      failed += (await isRefused(run, redis, situation, harm)) ? 1 : 0;
    }
    hold('F36', failed > 0, () => `nothing makes ${situation.script} fail`);
  });
}

interface Harm {
  readonly what: string;
  readonly args?: Args;
  readonly mustFail?: boolean;
  readonly put?: (key: string) => Promise<unknown>;
}

function wrongTypes(redis: Redis): Harm[] {
  return ENDINGS.flatMap((ending) =>
    WRONG.map((put, i) => ({
      what: `a wrong value (${i}) at "${ending}"`,
      put: async (key: string) => {
        await redis.unlink(key + ending);
        await put(redis, key + ending);
      },
    })),
  );
}

function wrongArguments(args: Args): Harm[] {
  const changed = args.flatMap((_, i) =>
    GARBAGE.map((garbage) => ({
      what: `"${garbage}" as argument ${i + 1}`,
      args: args.map((arg, at) => (at === i ? garbage : arg)),
    })),
  );
  const missing = args.map((_, i) => ({
    what: `the first ${i} arguments only`,
    args: args.slice(0, i),
    mustFail: true,
  }));
  return [...changed, ...missing];
}

async function isRefused(
  run: ScriptRunner,
  redis: Redis,
  { script, args, prepare }: Situation,
  harm: Harm,
): Promise<boolean> {
  const key = `protocol:{${randomUUID()}}`;
  try {
    await prepare(run, key);
    await harm.put?.(key);
    const before = await stateOf(redis, [key]);
    const answer = await run(script, [key], harm.args ?? args).catch((error: Error) => error);
    const hasFailed = answer instanceof Error || (answer as string[][])[0]?.[0] === 'error';
    const after = await stateOf(redis, [key]);
    hold('F36', !hasFailed || before === after, () => `${script} with ${harm.what} fails, and has written`);
    hold('F36', hasFailed || !harm.mustFail, () => `${script} takes ${harm.what}`);
    return hasFailed;
  } finally {
    await redis.unlink(...ENDINGS.map((ending) => key + ending));
  }
}
