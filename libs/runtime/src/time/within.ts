/** What an event comes to, or `late` when that takes longer than this. The event itself goes on. */
export async function within<T, L = undefined>(ms: number, event: Promise<T>, late?: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  // What has arrived meanwhile is read first: the process itself may not have run for as long.
  const end = (resolve: (late: L) => void) => () => setImmediate(() => resolve(late as L));
  const limit = new Promise<L>((resolve) => (timer = setTimeout(end(resolve), ms)));
  try {
    return await Promise.race([event, limit]);
  } finally {
    clearTimeout(timer);
  }
}
