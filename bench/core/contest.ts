import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { BenchProcess } from '../harness/bench-process.js';
import { median } from '../harness/median.js';
import type { Enqueued, Order } from './producer.process.js';

import type { SideName } from './sides.js';
import type { Stores } from './stores.js';
import type { Processed, Task } from './worker.process.js';

const CONCURRENCY = 50;
/** Worker processes that have not had their jobs by then are short of jobs: something is wrong. */
const LONGEST_MS = 300_000;

/** Jobs a second; µs of CPU a job; bytes of the store a waiting job. */
export const FIGURES = ['rate', 'producerCpu', 'workerCpu', 'storeCpu', 'bytes'] as const;
export type Figure = (typeof FIGURES)[number];
export type Answer = Partial<Record<Figure, number>>;

/** What one side answered to one question: medians of the rounds, and of each round's ratios to the first side. */
export interface Row {
  readonly question: string;
  readonly side: SideName;
  readonly load: number;
  readonly medians: Answer;
  readonly ratios: Answer;
  readonly rounds: readonly Answer[];
}

/** All sides in one run: each has its producer process, which lives as long as the benchmark. */
export class Contest {
  readonly rows: Row[] = [];

  private constructor(
    readonly sides: readonly SideName[],
    private readonly rounds: number,
    private readonly stores: Stores,
    private readonly producers: ReadonlyMap<SideName, BenchProcess>,
    private readonly say: (row: Row) => void,
  ) {}

  static async start(
    sides: readonly SideName[],
    rounds: number,
    stores: Stores,
    say: (row: Row) => void,
  ): Promise<Contest> {
    const entry = new URL('producer.process.js', import.meta.url);
    const started = sides.map(
      async (side) => [side, await BenchProcess.start(entry, [side, stores.of(side).url])] as const,
    );
    return new Contest(sides, rounds, stores, new Map(await Promise.all(started)), say);
  }

  /** Asks every side in every round, each time on an empty store. */
  ask(
    question: string,
    sides: readonly SideName[],
    answer: (side: SideName) => Promise<Answer>,
  ): Promise<void> {
    return this.askAsItIs(question, sides, async (side) => {
      await this.stores.of(side).empty();
      return answer(side);
    });
  }

  /**
   * Asks every side in every round, on what its store holds. The order turns, so that a busy moment of the machine does not meet
   * the same side each time. Round 0 warms up.
   */
  async askAsItIs(
    question: string,
    sides: readonly SideName[],
    answer: (side: SideName) => Promise<Answer>,
  ): Promise<void> {
    const answers = new Map<SideName, Answer[]>(sides.map((side) => [side, []]));
    for (let round = 0; round <= this.rounds; round += 1) {
      const first = round % sides.length;
      for (const side of [...sides.slice(first), ...sides.slice(0, first)]) {
        answers.get(side)!.push(await answer(side));
      }
    }
    this.note(question, sides, answers);
  }

  enqueue(side: SideName, order: Order): Promise<Enqueued> {
    return this.producers.get(side)!.ask<Enqueued>(order);
  }

  /** Worker processes of that side take jobs until each has completed what the task says. */
  async process(side: SideName, handlerMs: number, task: Task, workers = 1): Promise<Processed[]> {
    const entry = new URL('worker.process.js', import.meta.url);
    const args = [side, this.stores.of(side).url, String(handlerMs), String(CONCURRENCY)];
    const started = await Promise.all(Array.from({ length: workers }, () => BenchProcess.start(entry, args)));
    try {
      const answers = Promise.all(started.map((worker) => worker.ask<Processed>(task)));
      return await Promise.race([answers, failLater(side)]);
    } finally {
      await Promise.all(started.map((worker) => worker.stop()));
    }
  }

  /** The CPU that the side's store spends on some work, in ms. */
  async spentOn<T>(side: SideName, work: () => Promise<T>): Promise<{ done: T; storeMs: number }> {
    const store = this.stores.of(side);
    const before = await store.cpuMs();
    const done = await work();
    return { done, storeMs: (await store.cpuMs()) - before };
  }

  memoryBytes(side: SideName): Promise<number> {
    return this.stores.of(side).memoryBytes();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.producers.values()].map((producer) => producer.stop()));
  }

  /** Notes what was answered: the rounds of each side, round 0 first. */
  note(
    question: string,
    sides: readonly SideName[],
    answers: ReadonlyMap<SideName, readonly Answer[]>,
  ): void {
    const base = answers.get(sides[0]!)!.slice(1);
    for (const side of sides) {
      const rounds = answers.get(side)!.slice(1);
      const row: Row = { question, side, load: loadavg()[0]!, ...summaryOf(rounds, base), rounds };
      this.rows.push(row);
      this.say(row);
    }
  }
}

async function failLater(side: SideName): Promise<never> {
  await pause(LONGEST_MS, undefined, { ref: false });
  throw new Error(`The workers of ${side} have not completed their jobs within ${LONGEST_MS / 1_000} s.`);
}

function summaryOf(mine: readonly Answer[], base: readonly Answer[]): Pick<Row, 'medians' | 'ratios'> {
  const medians: Answer = {};
  const ratios: Answer = {};
  for (const figure of FIGURES) {
    if (mine[0]?.[figure] === undefined) continue;
    medians[figure] = median(mine.map((one) => one[figure]!));
    if (base[0]?.[figure] !== undefined)
      ratios[figure] = median(mine.map((one, round) => one[figure]! / base[round]![figure]!));
  }
  return { medians, ratios };
}
