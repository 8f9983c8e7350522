/** The machine's clock that never jumps: the same in all of its processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
