import { signal } from '@preact/signals';
import { serverSentEvents, type ServerSent } from './server-sent.js';
import { api, isStatus, noteRefusal } from './session.js';

/** `off`: this api has no stream, or not for this key. */
export type LiveState = 'connecting' | 'live' | 'paused' | 'lost' | 'off';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
/** The longest time that a timer takes: the stream ends when the tab is hidden, or the connection is lost. */
const FOREVER_MS = 2 ** 31 - 1;

export const liveState = signal<LiveState>('connecting');
const listeners = new Set<(event: ServerSent) => void>();
let last: string | undefined;
let isOn = false;

/** Returns what ends it. */
export function onLive(listener: (event: ServerSent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the one stream of this page for as long as there is the page. */
export async function followLive(): Promise<void> {
  if (isOn) return;
  isOn = true;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    await untilVisible();
    const began = performance.now();
    const canGoOn = await followOnce();
    if (!canGoOn) break;
    if (performance.now() - began > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
    if (document.hidden) continue;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
  isOn = false;
}

async function followOnce(): Promise<boolean> {
  const hidden = untilHidden();
  try {
    const header = last === undefined ? {} : { 'Last-Event-ID': last };
    const { body } = await api.value.call(
      'GET /v1/stream',
      { header },
      { timeoutMs: FOREVER_MS, signal: hidden },
    );
    if (!body) return true;
    liveState.value = 'live';
    for await (const event of serverSentEvents(body)) tell(event);
    liveState.value = 'lost';
  } catch (error) {
    if (isStatus(error, 401)) noteRefusal(error);
    const isRefused = isStatus(error, 401, 403, 404);
    liveState.value = isRefused ? 'off' : hidden.aborted ? 'paused' : 'lost';
    return !isRefused;
  }
  return true;
}

function tell(event: ServerSent): void {
  last = event.id ?? last;
  for (const listener of listeners) listener(event);
}

function untilHidden(): AbortSignal {
  const controller = new AbortController();
  const look = (): void => {
    if (!document.hidden) return;
    document.removeEventListener('visibilitychange', look);
    controller.abort();
  };
  document.addEventListener('visibilitychange', look);
  return controller.signal;
}

async function untilVisible(): Promise<void> {
  while (document.hidden) {
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
  }
}
