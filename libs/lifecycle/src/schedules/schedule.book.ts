import { Injectable } from '@nestjs/common';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript, type ScriptName } from '../scripts.js';
import type { Definition } from './schedule.js';

/** Who claims a schedule has so long for its turn, until others are given it. */
const HOLD_MS = 10_000;

/*
 * A schedule's hash:
 *   i id; d definition, as JSON; o its owners and e their epochs when it was made, as JSON; t its timing
 *   n when it is due next, ms; l when it had its last turn, j the job of that; x why its last turn was refused for good
 *   b the number of the newest change, which grows; p<owner> `<change>|<since>`: that change may have left a note with
 *   the owner to no purpose
 */

/** A schedule as the book has it. */
export interface Plan {
  /** Its name in the book: the digest of its id. */
  readonly name: string;
  readonly id: string;
  readonly definition: Definition;
  readonly owners: readonly string[];
  readonly epochs: readonly string[];
  readonly dueMs: number;
  readonly lastMs: number | undefined;
  readonly lastJobId: string | undefined;
  readonly error: string | undefined;
}

/** What is due: a schedule, or what a change to it has left undone. */
export interface Claimed {
  readonly name: string;
  readonly plan: Plan | undefined;
  readonly isUndone: boolean;
}

/** Something that is noted with an owner to no purpose, and up to which change. */
export interface Undone {
  readonly owner: string;
  readonly change: string;
}

/** The book of all schedules: what they are, and when which is due. By the store's clock. */
@Injectable()
export class ScheduleBook {
  private readonly key: string;

  constructor(private readonly options: LifecycleOptions) {
    this.key = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix).schedules;
  }

  async begin(name: string, owners: readonly string[]): Promise<{ change: string; nowMs: number }> {
    const [change, now] = (await this.run('plan', name, 'begin', JSON.stringify(owners))) as [string, string];
    return { change, nowMs: Number(now) };
  }

  async finish(
    { name, id, definition, owners, epochs, dueMs }: Omit<Plan, 'lastMs' | 'lastJobId' | 'error'>,
    change: string,
  ): Promise<'created' | 'replaced' | 'overtaken'> {
    const texts = [definition, owners, epochs, definition.timing].map((part) => JSON.stringify(part));
    const answer = await this.run('plan', name, 'finish', change, id, ...texts, dueMs);
    return answer as 'created' | 'replaced' | 'overtaken';
  }

  /** The number of the change; nothing when there is none, or it has other epochs than these. */
  async strike(name: string, epochs?: readonly string[]): Promise<string | undefined> {
    return ((await this.run('strike', name, epochs ? JSON.stringify(epochs) : '')) as string) || undefined;
  }

  /** What changes have left undone, up to this one; without one, what is undone for too long. */
  async undone(name: string, upTo = ''): Promise<Undone[]> {
    const answer = (await this.run('undone', name, 'look', upTo)) as string[];
    const pairs = answer.map((owner, i) => ({ owner, change: answer[i + 1]! }));
    return pairs.filter((_, i) => i % 2 === 0);
  }

  async done(name: string, undone: readonly Undone[]): Promise<void> {
    const pairs = undone.flatMap(({ owner, change }) => [owner, change]);
    await this.run('undone', name, 'done', JSON.stringify(pairs));
  }

  async claim(limit: number): Promise<{ nowMs: number; claimed: Claimed[] }> {
    const answer = (await runScript(this.options.redis, 'claim', [this.key], ['', HOLD_MS, limit])) as [
      string,
      ...(string | string[])[],
    ];
    const claimed: Claimed[] = [];
    for (let i = 1; i < answer.length; i += 2) {
      const [name, fields] = [answer[i] as string, toRecord(answer[i + 1] as string[])];
      const isUndone = Object.keys(fields).some((field) => field.startsWith('p'));
      claimed.push({ name, plan: toPlan(name, fields), isUndone });
    }
    return { nowMs: Number(answer[0]), claimed };
  }

  /** Its turn is over, with a job or why there is none; or, with neither, it has not come yet. */
  async turn(
    { name, epochs, dueMs }: Plan,
    nextMs: number,
    { jobId = '', why = '' }: { jobId?: string; why?: string } = {},
  ): Promise<void> {
    await this.run('turn', name, JSON.stringify(epochs), dueMs, nextMs, jobId, why);
  }

  async read(name: string): Promise<Plan | undefined> {
    return toPlan(name, await this.options.redis.hgetall(`${this.key}:${name}`));
  }

  /** A page of them, and where the next one begins; '0' when there is none. */
  async page(cursor: string, count: number): Promise<{ plans: Plan[]; next: string }> {
    const [next, found] = await this.options.redis.zscan(this.key, cursor, 'COUNT', count);
    const names = found.filter((_, i) => i % 2 === 0);
    const plans = await Promise.all(names.map((name) => this.read(name)));
    return { plans: plans.filter((plan) => plan !== undefined), next };
  }

  private run(script: ScriptName, ...args: readonly (string | number)[]): Promise<unknown> {
    return runScript(this.options.redis, script, [this.key], ['', ...args]);
  }
}

function toRecord(fields: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i < fields.length; i += 2) record[fields[i]!] = fields[i + 1]!;
  return record;
}

/** Nothing for one that was not made yet, or is struck out. */
function toPlan(name: string, fields: Record<string, string>): Plan | undefined {
  const { i, d, o, e, n, l, j, x } = fields;
  if (i === undefined || d === undefined || o === undefined || e === undefined) return undefined;
  return {
    name,
    id: i,
    definition: JSON.parse(d) as Definition,
    owners: JSON.parse(o) as string[],
    epochs: JSON.parse(e) as string[],
    dueMs: Number(n),
    lastMs: l === undefined ? undefined : Number(l),
    lastJobId: j,
    error: x,
  };
}
