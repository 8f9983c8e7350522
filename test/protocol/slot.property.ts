import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { ScriptRunner } from './script-runner.js';
import { hold, violationOf } from './violation.js';

const LEASE_MS = 100;
const START = 1_900_000_000_000;

type Act = 'stand' | 'take' | 'look' | 'hold' | 'give' | 'quit';

export interface SlotStep {
  readonly what: Act | 'wait' | 'waitForAnEdge';
  readonly job: number;
  /** Which of the job's runs acts. */
  readonly run: number;
  /** When the job was accepted. */
  readonly accepted: number;
  readonly ms: number;
}

export interface SlotLife {
  readonly limit: number;
  readonly steps: readonly SlotStep[];
}

export const slotLives: fc.Arbitrary<SlotLife> = fc.record({
  limit: fc.integer({ min: 1, max: 3 }),
  steps: fc.array(
    fc.record({
      what: fc.constantFrom(
        'stand',
        'take',
        'take',
        'take',
        'look',
        'hold',
        'give',
        'quit',
        'wait',
        'waitForAnEdge' as const,
      ),
      job: fc.nat(7),
      run: fc.nat(1),
      accepted: fc.nat(9),
      ms: fc.integer({ min: 1, max: LEASE_MS }),
    }),
    { minLength: 1, maxLength: 60, size: 'max' },
  ),
});

/** I36: who holds the slots of a key, and who stands in line, as it should be. */
class Line {
  readonly holders = new Map<string, number>();
  readonly waiting: string[] = [];
  private readonly acceptedAt = new Map<string, number>();

  constructor(
    private readonly limit: number,
    private now = START,
  ) {}

  get time(): number {
    return this.now;
  }

  wait(ms: number): void {
    this.now += ms;
  }

  waitForAnEdge(pick: number): void {
    const ends = [...this.holders.values()].flatMap((end) => [end - 1, end, end + 1]);
    const ahead = ends.filter((end) => end > this.now);
    this.now = ahead[pick % Math.max(1, ahead.length)] ?? this.now;
  }

  /** What the script should answer. */
  act(what: Act, job: string, token: string, accepted: number): string[] {
    for (const [holder, end] of this.holders) if (end <= this.now) this.holders.delete(holder);
    if (what === 'stand') {
      if (!this.waiting.includes(job)) this.stand(job, accepted);
      return ['standing'];
    }
    const mine = `${job}|${token}`;
    switch (what) {
      case 'hold':
        if (!this.holders.has(mine)) return ['lost'];
        this.holders.set(mine, this.now + LEASE_MS);
        return ['held'];
      case 'give':
        this.holders.delete(mine);
        return ['given', ...this.grant()];
      case 'quit':
        this.holders.delete(`${job}|`);
        this.leaveLine(job);
        return ['given', ...this.grant()];
      case 'look': {
        const woken = this.grant().filter((one) => one !== job);
        return [this.holders.has(`${job}|`) ? 'granted' : 'waiting', ...woken];
      }
      case 'take':
        return this.take(job, mine, accepted);
    }
  }

  private take(job: string, mine: string, accepted: number): string[] {
    if (this.holders.has(`${job}|`) || this.holders.has(mine)) {
      this.holders.delete(`${job}|`);
      this.holders.set(mine, this.now + LEASE_MS);
      this.leaveLine(job);
      return this.taken(this.grant());
    }
    if (!this.waiting.includes(job)) this.stand(job, accepted);
    const others = this.grant().filter((one) => one !== job);
    if (this.holders.delete(`${job}|`)) {
      this.holders.set(mine, this.now + LEASE_MS);
      return this.taken(others);
    }
    const untilFree = Math.min(...this.holders.values()) - this.now;
    return ['wait', String(untilFree), String(this.waiting.indexOf(job)), ...others];
  }

  private taken(woken: readonly string[]): string[] {
    return ['taken', this.waiting[0] ?? '', ...woken];
  }

  private stand(job: string, accepted: number): void {
    this.acceptedAt.set(job, accepted);
    this.waiting.push(job);
    this.waiting.sort((a, b) => this.acceptedAt.get(a)! - this.acceptedAt.get(b)! || (a < b ? -1 : 1));
  }

  private leaveLine(job: string): void {
    if (this.waiting.includes(job)) this.waiting.splice(this.waiting.indexOf(job), 1);
  }

  private grant(): string[] {
    const granted: string[] = [];
    while (this.holders.size < this.limit && this.waiting.length > 0) {
      const job = this.waiting.shift()!;
      this.holders.set(`${job}|`, this.now + LEASE_MS);
      granted.push(job);
    }
    return granted;
  }
}

/** One concurrency key, never seen before; reports the first moment at which it had too many holders, or the wrong ones. */
export async function takeAs(run: ScriptRunner, redis: Redis, life: SlotLife): Promise<string | undefined> {
  const key = `protocol:{slot:${randomUUID()}}`;
  const line = new Line(life.limit);
  try {
    return await violationOf(async () => {
      for (const step of life.steps) {
        if (step.what === 'wait') line.wait(step.ms);
        else if (step.what === 'waitForAnEdge') line.waitForAnEdge(step.ms);
        else await act(run, redis, key, life.limit, line, { ...step, what: step.what });
      }
    });
  } finally {
    await redis.unlink(key, `${key}:waiters`);
  }
}

async function act(
  run: ScriptRunner,
  redis: Redis,
  key: string,
  limit: number,
  line: Line,
  step: Omit<SlotStep, 'what'> & { what: Act },
): Promise<void> {
  const { what, accepted } = step;
  const [job, token] = [`job-${step.job}`, `run-${step.run}`];
  const expected = line.act(what, job, token, accepted);
  const args = [line.time, what, job, token, limit, LEASE_MS, accepted];
  const [answer] = (await run('take', [key], args)) as string[][];
  const [held, waiting] = await Promise.all([
    redis.zrangebyscore(key, `(${line.time}`, '+inf'),
    redis.zrange(`${key}:waiters`, '0', '-1'),
  ]);
  const seen = `${what} of ${job}, ${token}, answers ${answer!.join(' ')}, not ${expected.join(' ')}`;
  hold('I36', held.length <= limit, () => `${held.length} hold ${limit} slots: ${held.join(' ')}; ${seen}`);
  hold('I36', answer!.join(' ') === expected.join(' '), () => seen);
  const isRight =
    held.toSorted().join(' ') === [...line.holders.keys()].toSorted().join(' ') &&
    waiting.join(' ') === line.waiting.join(' ');
  hold('I36', isRight, () => `${held.join(' ')} hold and ${waiting.join(' ')} wait; ${seen}`);
}
