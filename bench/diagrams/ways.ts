import { Renderers, type DiagramType } from '#workloads/diagrams';

/** A way to render a picture: the source in, the bytes out. */
export type Way = (type: DiagramType, source: string) => Promise<void>;

/** Through everything: HTTP, the queue, a worker, its artifact; in one call. */
export function throughFleet(url: string): Way {
  return async (type, source) => {
    const answer = await fetch(`${url}/${type}/svg`, { method: 'POST', body: source });
    const bytes = await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${type}: ${answer.status} ${Buffer.from(bytes).toString()}`);
  };
}

/** The same renderers, asked by this process, without a queue. */
export function straight(renderers: Renderers): Way {
  return async (type, source) => {
    await renderers.render({ type, source, output: 'svg' }, new AbortController().signal);
  };
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Pictures a second, at a given concurrency and for a given time. */
export async function rate(lanes: number, forMs: number, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  let done = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - began < forMs) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return done / ((performance.now() - began) / 1_000);
}
