/**
 * A small explicit-state model checker. A model is a start and a list of steps. The checker takes every possible step
 * in every reachable state, and so explores all interleavings. It searches breadth first, so that the trace to the
 * first fault is a shortest one.
 */
export interface Model<State> {
  readonly start: State;
  readonly steps: readonly Step<State>[];
  /** The invariant that this state breaks, if any. */
  readonly broken: (state: State) => string | undefined;
  /** The invariant that this state breaks if no further step is possible. */
  readonly brokenAtRest?: (state: State) => string | undefined;
  /** What must stay possible: from every state a good state must be reachable. */
  readonly alwaysPossible?: { readonly invariant: string; readonly good: (state: State) => boolean };
  /** States with the same key are one state: here a model declares its symmetries and drops what no longer matters. */
  readonly key?: (state: State) => string;
}

/** One atomic step of one process: a script, a call to a queue, an end. */
export interface Step<State> {
  /** A sentence without its full stop: subject and action. */
  readonly name: string;
  readonly when: (state: State) => boolean;
  /** Changes the given copy; the returned text completes the sentence. */
  readonly act: (state: State) => string | void;
}

export interface Exploration {
  readonly states: number;
  readonly broken?: { readonly invariant: string; readonly trace: readonly string[] };
}

/** A model with more states has a mistake. */
const MOST_STATES = 400_000;
const NONE = -1;

export function explore<State extends object>(model: Model<State>): Exploration {
  const numbers = new Map<string, number>();
  const reached: State[] = [];
  const from: number[] = [];
  const by: string[] = [];
  const waysBack: number[][] = [];
  const traceTo = (last: number): string[] => {
    const trace: string[] = [];
    for (let at = last; from[at] !== NONE; at = from[at]!) trace.unshift(by[at]!);
    return trace;
  };
  const visit = (state: State, cameFrom: number, sentence: string): number => {
    const key = (model.key ?? keyOf)(state);
    let number = numbers.get(key);
    if (number === undefined) {
      number = reached.push(state) - 1;
      numbers.set(key, number);
      from.push(cameFrom);
      by.push(sentence);
      if (model.alwaysPossible) waysBack.push([]);
    }
    return number;
  };

  visit(copyOf(model.start), NONE, '');
  for (let at = 0; at < reached.length; at += 1) {
    const state = reached[at]!;
    let invariant = model.broken(state);
    let isAtRest = true;
    for (const step of invariant ? [] : model.steps) {
      if (!step.when(state)) continue;
      isAtRest = false;
      const next = copyOf(state);
      const answer = step.act(next);
      const number = visit(next, at, answer ? `${step.name}: ${answer}` : step.name);
      if (model.alwaysPossible) waysBack[number]!.push(at);
    }
    if (isAtRest) invariant ??= model.brokenAtRest?.(state);
    if (invariant) return { states: reached.length, broken: { invariant, trace: traceTo(at) } };
    if (reached.length > MOST_STATES) throw new Error(`The model has more than ${MOST_STATES} states.`);
    // Explored; only the search for a good state still needs it.
    if (!model.alwaysPossible) reached[at] = undefined as never;
  }

  if (model.alwaysPossible) {
    const { invariant, good } = model.alwaysPossible;
    const stuck = firstWithoutWayTo(good, reached, waysBack);
    if (stuck !== undefined) return { states: reached.length, broken: { invariant, trace: traceTo(stuck) } };
  }
  return { states: reached.length };
}

/** Searches backwards from all good states; returns the first state from which no good state is reachable. */
function firstWithoutWayTo<State>(
  isGood: (state: State) => boolean,
  reached: readonly State[],
  waysBack: readonly (readonly number[])[],
): number | undefined {
  const canReach = reached.map(isGood);
  const todo = [...canReach.keys()].filter((number) => canReach[number]);
  for (let number = todo.pop(); number !== undefined; number = todo.pop()) {
    for (const before of waysBack[number]!) {
      if (canReach[before]) continue;
      canReach[before] = true;
      todo.push(before);
    }
  }
  const stuck = canReach.indexOf(false);
  return stuck === -1 ? undefined : stuck;
}

function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const copy = { ...value } as Record<string, unknown>;
  for (const name of Object.keys(copy)) {
    if (typeof copy[name] === 'object') copy[name] = copyOf(copy[name]);
  }
  return copy as T;
}

/** The values of a state in order; names can be omitted, because all states of a model have the same shape. */
export function keyOf(value: unknown): string {
  if (value === true) return '+';
  if (value === false) return '-';
  if (typeof value === 'number') return `${value},`;
  if (typeof value === 'string') return `${value},`;
  if (typeof value !== 'object' || value === null) return '~';
  let key = '(';
  if (Array.isArray(value)) for (const each of value) key += keyOf(each);
  else for (const name in value) key += keyOf((value as Record<string, unknown>)[name]);
  return `${key})`;
}
