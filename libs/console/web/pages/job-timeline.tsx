import type { Job } from '#client';
import type { JSX } from 'preact';
import { duration } from '../ui/format.js';
import { Time } from '../ui/time.js';

type Entry = Job['timeline'][number];

interface Span {
  readonly what: 'wait' | 'run';
  readonly from: number;
  readonly to: number;
  readonly tone: string;
  readonly label: string;
}

const ENDS = ['completed', 'failed', 'cancelled', 'expired', 'skipped', 'removed'];
const TONES: Readonly<Record<string, string>> = {
  completed: 'good',
  failed: 'bad',
  aborted: 'warn',
  cancelled: 'warn',
  retrying: 'warn',
};
const WIDTH = 1_000;
/** A span that is too short to be seen is drawn as wide as this. */
const LEAST = 4;

/** When the job waited and when it ran, as a picture, and what happened, as a list. */
export function Timeline({ job: { timeline } }: { readonly job: Job }): JSX.Element {
  const entries = timeline.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const spans = spansOf(entries);
  const first = spans[0]?.from ?? 0;
  const whole = Math.max(1, (spans.at(-1)?.to ?? first) - first);
  return (
    <div class="timeline">
      {spans.length > 0 && (
        <svg
          viewBox={`0 0 ${WIDTH} 20`}
          preserveAspectRatio="none"
          role="img"
          aria-label={spans.map(({ label }) => label).join('; ')}
        >
          {spans.map(({ what, from, to, tone, label }) => (
            <rect
              key={from}
              class={`${what} ${tone}`}
              x={Math.min(((from - first) / whole) * WIDTH, WIDTH - LEAST)}
              width={Math.max(LEAST, ((to - from) / whole) * WIDTH - 1)}
              y={what === 'run' ? 2 : 8}
              height={what === 'run' ? 16 : 4}
              rx="2"
            >
              <title>{label}</title>
            </rect>
          ))}
        </svg>
      )}
      <ol>
        {entries.map(({ at, event, attempt, why }, i) => (
          <li key={i}>
            <span class={`dot ${TONES[event] ?? ''}`} />
            <span class="strong">{event}</span>
            {attempt !== undefined && <span class="quiet">try {attempt}</span>}
            {i > 0 && <Since from={entries[i - 1]!.at} to={at} />}
            <Time at={at} />
            {why && <span class="why">{why}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Since({ from, to }: { readonly from: string; readonly to: string }): JSX.Element | null {
  const ms = Date.parse(to) - Date.parse(from);
  return ms > 0 ? <span class="quiet">+{duration(ms)}</span> : null;
}

/** Between two entries the job ran if the first says that it began. */
function spansOf(entries: readonly Entry[]): Span[] {
  return entries.flatMap((entry, i): Span[] => {
    const next = entries[i + 1];
    if (ENDS.includes(entry.event) && !next) return [];
    const from = Date.parse(entry.at);
    const to = next ? Date.parse(next.at) : Date.now();
    const what = entry.event === 'began' ? 'run' : 'wait';
    const tone = what === 'wait' ? '' : next ? (TONES[next.event] ?? 'busy') : 'busy';
    const label = `${what === 'run' ? 'ran' : 'waited'} ${duration(to - from)}${next ? `, then ${next.event}` : ' so far'}`;
    return [{ what, from, to, tone, label }];
  });
}
