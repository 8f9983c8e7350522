/** A job's place among those that ended: by when, and among those of one ms by its id. */
export type Ended = readonly [finishedOn: number, jobId: string];

export const ENDED_AS = ['completed', 'failed'] as const;
export type EndedState = (typeof ENDED_AS)[number];

interface InQueue {
  readonly queue: string;
  readonly state: EndedState;
}

/** From the newest on: how many of each kind there are, and with which of them its number is full. */
export interface Counting extends InQueue {
  readonly phase: 'count';
  /** How many were looked at, and which was the last. */
  readonly from: number;
  readonly last?: Ended;
  readonly counts: Readonly<Record<string, number>>;
  readonly full: Readonly<Record<string, Ended>>;
}

/** From the oldest on: whatever is over its kind's measure goes. */
export interface Removing extends InQueue {
  readonly phase: 'remove';
  /** How many of the oldest stay. */
  readonly from: number;
  readonly full: Readonly<Record<string, Ended>>;
}

/** Jobs over their measure that this sweep came by and could not try: they rest after a failure, or are left alone. */
export interface Waiting {
  readonly resting: number;
  readonly quarantined: number;
  /** Why one of them rests. */
  readonly why?: string | undefined;
}

/** First what a crash has left, then queue by queue; and who waits, as far as was seen by then. */
export type Position = ({ readonly phase: 'left'; readonly cursor: string } | Counting | Removing) & {
  readonly waiting?: Waiting;
};

export function readPosition(text: string | undefined): Position {
  return text === undefined ? { phase: 'left', cursor: '0' } : (JSON.parse(text) as Position);
}

export function writePosition(position: Position | undefined): string | null {
  return position ? JSON.stringify(position) : null;
}

export function isBefore(a: Ended, b: Ended): boolean {
  return a[0] === b[0] ? a[1] < b[1] : a[0] < b[0];
}
