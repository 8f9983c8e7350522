import { InvalidJobError } from './errors.js';

const LEAST_WEIGHT = 0.01;
const MOST_WEIGHT = 100;

/** Whose turns jobs take, and how many turns in each round. `true` for one turn of the first owner of a job. */
export interface FairTurns {
  /** The type of the owners that take turns: the first of a job. Default its first owner, and that too for a job without one of the type. */
  readonly by?: string;
  /** How many turns a round, by owner, such as `customer:7`, or by its type. Default 1; from 0.01 to 100. */
  readonly weights?: Readonly<Record<string, number>>;
  /** For this job, whatever `weights` has. */
  readonly weight?: number;
}

/** As the scripts read it. */
export interface Turn {
  readonly weight: number;
  readonly by: string;
}

/** @param owners of the job, `type:id` */
export function turnOf(given: boolean | FairTurns | undefined, owners: readonly string[]): Turn | undefined {
  if (given === undefined || given === false) return undefined;
  checkTurns(given);
  const { by = '', weights = {}, weight } = given === true ? {} : given;
  const owner = owners.find((each) => by !== '' && each.startsWith(`${by}:`)) ?? owners[0]!;
  const [type] = owner.split(':', 1) as [string];
  return { weight: weight ?? weights[owner] ?? weights[type] ?? 1, by };
}

/** Those that were found right: most jobs have the same. */
const checked = new WeakSet<FairTurns>();

export function checkTurns(given: boolean | FairTurns | undefined): void {
  if (typeof given === 'boolean' || given === undefined || checked.has(given)) return;
  const { by = '', weights = {}, weight = 1 } = given;
  if (typeof by !== 'string' || !/^[^:\s]*$/.test(by))
    throw new InvalidJobError(
      `fair.by is the type of an owner, such as "customer"; got ${JSON.stringify(by)}.`,
    );
  for (const [owner, each] of [...Object.entries(weights), ['a job', weight] as const]) {
    if (typeof each !== 'number' || !(each >= LEAST_WEIGHT && each <= MOST_WEIGHT))
      throw new InvalidJobError(
        `The weight of ${owner} in fair turns is a number from ${LEAST_WEIGHT} to ${MOST_WEIGHT}; got ${String(each)}.`,
      );
  }
  checked.add(given);
}
