import type { Queues, Receipt, Sweeps, Workers } from '#client';
import type { JSX } from 'preact';
import { link } from '../router.js';
import { duration, plural } from '../ui/format.js';

/** A job that waits longer than this is named. */
const LONG_WAIT_MS = 60_000;
const LONG_CANCEL_MS = 60_000;

export interface Problem {
  readonly text: string;
  readonly to: string;
  readonly isBad: boolean;
}

interface Fleet {
  readonly queues: Queues['queues'];
  readonly workers: Workers['workers'] | undefined;
  readonly tripped: Sweeps['tripped'];
  readonly cancellations: readonly Receipt[];
}

/** What an operator should look at, the worst first. */
export function attentionTo({ queues, workers, tripped, cancellations }: Fleet): Problem[] {
  const served = new Set(workers?.flatMap((worker) => worker.queues.map(({ queue }) => queue)));
  const slow = cancellations.filter(({ at }) => Date.now() - Date.parse(at) > LONG_CANCEL_MS);
  return [
    ...Object.entries(tripped).map(([sweep, { why }]) => ({
      text: `The ${sweep} sweep tripped: ${why}`,
      to: link(['sweeps']),
      isBad: true,
    })),
    ...queues
      .filter(({ queue, counts }) => workers && !served.has(queue) && (counts['waiting'] ?? 0) > 0)
      .map(({ queue, counts }) => ({
        text: `${plural(counts['waiting'] ?? 0, 'job')} of “${queue}” waits, and no worker takes this queue`,
        to: link(['workers']),
        isBad: true,
      })),
    ...queues
      .filter(({ paused }) => paused)
      .map(({ queue }) => ({ text: `“${queue}” is paused`, to: link(['jobs'], { queue }), isBad: false })),
    ...queues
      .filter(({ paused, oldestWaitingMs }) => !paused && (oldestWaitingMs ?? 0) > LONG_WAIT_MS)
      .map(({ queue, oldestWaitingMs }) => ({
        text: `A job of “${queue}” has been due for ${duration(oldestWaitingMs ?? 0)}`,
        to: link(['jobs'], { queue, state: 'waiting' }),
        isBad: false,
      })),
    ...(slow.length > 0
      ? [
          {
            text: `${plural(slow.length, 'cancellation')} not finished after a minute`,
            to: link(['cancellations'], { open: 'true' }),
            isBad: false,
          },
        ]
      : []),
  ];
}

export function Attention({ problems }: { readonly problems: readonly Problem[] }): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <section class="attention" aria-label="Needs attention">
      <ul>
        {problems.map(({ text, to, isBad }) => (
          <li key={text} class={isBad ? 'bad' : 'warn'}>
            <a href={to}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}
