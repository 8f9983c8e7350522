import type { JSX } from 'preact';

const TONES: Readonly<Record<string, string>> = {
  running: 'busy',
  provisioning: 'busy',
  asked: 'busy',
  ending: 'busy',
  retrying: 'warn',
  draining: 'warn',
  tripped: 'bad',
  stopping: 'warn',
  paused: 'warn',
  'manual-cleanup': 'bad',
  refused: 'warn',
  completed: 'good',
  done: 'good',
  open: 'good',
  failed: 'bad',
  closed: 'warn',
};

/** A state as a dot and a word: colour alone says nothing. */
export function State({ state }: { readonly state: string }): JSX.Element {
  return <span class={`state ${TONES[state] ?? 'plain'}`}>{state}</span>;
}
