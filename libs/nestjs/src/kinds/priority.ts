/** Before which other kinds of its queue the jobs of a kind run, the first before all. */
export const URGENCIES = ['urgent', 'normal', 'background'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** A job whose caller names no priority stands in the middle of its class. */
export const MIDDLE_PRIORITY = 100;
export const LOWEST_PRIORITY = 2 * MIDDLE_PRIORITY;

/** BullMQ's priority. Each class has a band of its own: no caller can pass a class before its own. */
export function priorityInQueue(urgency: Urgency, priority: number): number {
  return URGENCIES.indexOf(urgency) * LOWEST_PRIORITY + priority;
}

/** All of BullMQ's priorities that a job may have. 0 is that of jobs without one. */
export const PRIORITIES = Array.from({ length: URGENCIES.length * LOWEST_PRIORITY + 1 }, (_, i) => i);
