/** By how much this process grew at most: its resident memory, and its heap. */
export interface Growth {
  readonly rssMb: number;
  readonly heapMb: number;
}

const MB = 1_048_576;

/** How this process grows during some work: looked at so often, which costs the work a little. */
export async function growthDuring(work: () => Promise<void>, everyMs: number): Promise<Growth> {
  const before = process.memoryUsage();
  const maxRss = process.resourceUsage().maxRSS;
  const peak = { rss: before.rss, heapUsed: before.heapUsed };
  const sample = (): void => {
    const { rss, heapUsed } = process.memoryUsage();
    peak.rss = Math.max(peak.rss, rss);
    peak.heapUsed = Math.max(peak.heapUsed, heapUsed);
  };
  const sampling = setInterval(sample, everyMs);
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  sample();
  // The system's own peak sees what no timer had the time to.
  const { maxRSS } = process.resourceUsage();
  if (maxRSS > maxRss) peak.rss = Math.max(peak.rss, maxRSS * 1_024);
  return { rssMb: (peak.rss - before.rss) / MB, heapMb: (peak.heapUsed - before.heapUsed) / MB };
}
