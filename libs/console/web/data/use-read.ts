import { useEffect, useRef, useState } from 'preact/hooks';
import { onLive } from './live.js';
import type { ServerSent } from './server-sent.js';
import { noteRefusal } from './session.js';

/** A change is read at most so often, and reading takes at most a twentieth of the time. */
const AT_MOST_EVERY_MS = 2_000;
const SHARE = 20;

/** Everything that is shown is read again: a person asked for it. */
export const READ_AGAIN = 'mooring:read-again';

export interface Read<T> {
  readonly data: T | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
}

export interface ReadOptions<T> {
  /** What makes the answer old. */
  readonly when?: (event: ServerSent) => boolean;
  /** How soon an answer that is not final is read again, while the tab is seen. */
  readonly againInMs?: (data: T) => number | undefined;
}

/** Reads when something in `of` changes, when a change of the fleet concerns it, and when it is asked to. */
export function useRead<T>(
  read: () => Promise<T>,
  of: readonly unknown[],
  { when, againInMs }: ReadOptions<T> = {},
): Read<T> {
  const [state, setState] = useState<{ data?: T; error?: Error; of?: string }>({});
  const reload = useRef(() => {});
  const current = JSON.stringify(of);

  useEffect(() => {
    let isOver = false;
    let isReading = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let nextAt = 0;

    const plan = (inMs: number): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (!document.hidden) void look();
      }, inMs);
    };
    const look = async (): Promise<void> => {
      if (isReading) return plan(AT_MOST_EVERY_MS);
      isReading = true;
      const began = performance.now();
      try {
        const data = await read();
        if (isOver) return;
        setState({ data, of: current });
        const soon = againInMs?.(data);
        if (soon !== undefined) plan(soon);
      } catch (error) {
        noteRefusal(error);
        if (!isOver) setState((before) => ({ ...before, error: error as Error, of: current }));
      } finally {
        isReading = false;
        const tookMs = performance.now() - began;
        nextAt = performance.now() + Math.max(AT_MOST_EVERY_MS, tookMs * SHARE);
      }
    };
    const end = onLive((event) => {
      if (event.name === 'gap' || when?.(event)) plan(Math.max(0, nextAt - performance.now()));
    });
    const seen = (): void => void (!document.hidden && look());
    document.addEventListener('visibilitychange', seen);
    addEventListener(READ_AGAIN, seen);
    reload.current = () => void look();
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
      removeEventListener(READ_AGAIN, seen);
      end();
    };
  }, [current]);

  const isOfNow = state.of === current;
  return {
    data: isOfNow ? state.data : undefined,
    error: isOfNow ? state.error : undefined,
    reload: () => reload.current(),
  };
}
