/** Before which other kinds of its queue a kind's jobs go, the first before all. */
export const CLASSES = ['urgent', 'normal', 'background'] as const;
export type KindClass = (typeof CLASSES)[number];

/** BullMQ's priority of the jobs that go before all with one. */
export const FIRST = 0;

/** Where a job stands among those of its class that asks for no priority: in the middle, so that others can pass it or let it pass. */
export const MIDDLE_PRIORITY = 100;
export const LEAST_URGENT = 2 * MIDDLE_PRIORITY;

/** Every priority of BullMQ's that a job may have. 0 is before all others: the turn of such a job has come already. */
export const PRIORITIES = Array.from({ length: CLASSES.length * LEAST_URGENT + 1 }, (_, i) => i);

/** BullMQ's priority: each class has a band of its own, so that whatever a caller asks for passes none of a class before. */
export function priorityInQueue(ofKind: KindClass, priority: number): number {
  return CLASSES.indexOf(ofKind) * LEAST_URGENT + priority;
}

/** The other way round: what its caller asked for. */
export function priorityInClass(inQueue: number): number {
  return ((inQueue - 1) % LEAST_URGENT) + 1;
}
