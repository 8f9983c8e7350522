/** What the processes of a pool are like. */
export interface PoolSpec {
  readonly name: string;
  /** How many there may be; each does one thing at a time. */
  readonly processes: number;
  /** Node's heap, and all of a process's memory. */
  readonly heapMb: number;
  readonly memoryMb: number;
  /** Node's flags. */
  readonly flags: readonly string[];
  readonly idleMs: number;
  readonly renders: number;
}
