import type { Run } from './run.js';
import { graceMsOf } from './stop-reasons.js';

/** The handler's end, or the end of our patience with one that was told to stop. */
export function untilAbandoned(work: Promise<unknown>, run: Run): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // A late failure of an abandoned handler is heard here too, and means nothing any more.
    let patience: NodeJS.Timeout | undefined;
    let isOver = false;
    const over = (): void => {
      isOver = true;
      clearTimeout(patience);
    };
    work.then(
      (result) => {
        over();
        resolve(result);
      },
      (error: Error) => {
        over();
        reject(error);
      },
    );
    run.whenStopped((reason) => {
      if (isOver) return;
      patience = setTimeout(
        () => {
          run.abandon();
          reject(reason instanceof Error ? reason : new Error(String(reason)));
        },
        graceMsOf(reason, run.kind),
      );
    });
  });
}
