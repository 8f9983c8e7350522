/** What an event comes to, or `late` when that takes longer than this. The event itself goes on. */
export async function within<T, L = undefined>(ms: number, event: Promise<T>, late?: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<L>((resolve) => (timer = setTimeout(() => resolve(late as L), ms)));
  try {
    return await Promise.race([event, limit]);
  } finally {
    clearTimeout(timer);
  }
}
