/**
 * A small explicit-state model checker. A model is a start and a list of steps; the checker takes every step that can be
 * taken in every state that can be reached, whoever's turn it is, and so walks all interleavings. Breadth first, so that
 * the trace to the first fault it finds is a shortest one.
 */
export interface Model<State> {
  readonly start: State;
  readonly steps: readonly Step<State>[];
  /** The invariant that this state breaks, if it breaks one. */
  readonly broken: (state: State) => string | undefined;
  /** The same for a state in which nothing more can happen. */
  readonly brokenAtRest?: (state: State) => string | undefined;
  /** What must stay possible whatever has happened: from every state some way must lead to one that is good. */
  readonly alwaysPossible?: { readonly invariant: string; readonly good: (state: State) => boolean };
  /** States with the same key are one state: here a model says what is symmetric in it, or no longer matters. */
  readonly key?: (state: State) => string;
}

/** One thing that one process does in one go: a script, a call to a queue, an end. */
export interface Step<State> {
  /** A sentence without its full stop: who does what. */
  readonly name: string;
  readonly when: (state: State) => boolean;
  /** Does it to the copy it is given; what it answers completes the sentence. */
  readonly act: (state: State) => string | void;
}

export interface Exploration {
  readonly states: number;
  readonly broken?: { readonly invariant: string; readonly trace: readonly string[] };
}

/** A model that grows without end is a mistake in the model. */
const MOST_STATES = 400_000;
const NOBODY = -1;

export function explore<State extends object>(model: Model<State>): Exploration {
  const numbers = new Map<string, number>();
  const reached: State[] = [];
  const from: number[] = [];
  const by: string[] = [];
  const waysBack: number[][] = [];
  const traceTo = (last: number): string[] => {
    const trace: string[] = [];
    for (let at = last; from[at] !== NOBODY; at = from[at]!) trace.unshift(by[at]!);
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

  visit(copyOf(model.start), NOBODY, '');
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
    // Explored; only a goal still needs to look at it.
    if (!model.alwaysPossible) reached[at] = undefined as never;
  }

  if (model.alwaysPossible) {
    const { invariant, good } = model.alwaysPossible;
    const stuck = firstWithoutWayTo(good, reached, waysBack);
    if (stuck !== undefined) return { states: reached.length, broken: { invariant, trace: traceTo(stuck) } };
  }
  return { states: reached.length };
}

/** Walks back from all good states; the first state that was not met on the way can reach none of them. */
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

/** The values of a state in their order; the shape is the same for all states of a model, so names can be left out. */
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
