/** What an event comes to, or nothing when that takes longer. The event itself goes on. */
export async function within<T>(ms: number, event: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  try {
    return await Promise.race([event, limit]);
  } finally {
    clearTimeout(timer);
  }
}
