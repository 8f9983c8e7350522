import type { JSX } from 'preact';
import { seconds, SECONDS } from '../data/rates.js';

const HEIGHT = 72;
const STEP = 5;
const BAR = 4;

/** Jobs that ended, second by second: those that failed stand below. */
export function Throughput(): JSX.Element {
  const shown = seconds.value;
  const most = Math.max(4, ...shown.map(({ completed, failed, other }) => completed + failed + other));
  const heightOf = (count: number): number => (count / most) * (HEIGHT - 4);
  const first = SECONDS - shown.length;
  const total = shown.reduce((sum, { completed, failed, other }) => sum + completed + failed + other, 0);
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${SECONDS * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${total} jobs ended in the last ${shown.length} seconds, at most ${most} in one.`}
      >
        <line class="axis" x1="0" y1={HEIGHT - 0.5} x2={SECONDS * STEP} y2={HEIGHT - 0.5} />
        {shown.map(({ completed, failed, other }, i) => {
          const x = (first + i) * STEP;
          const [bad, rest] = [heightOf(failed), heightOf(completed + other)];
          return (
            <g key={i}>
              {rest > 0 && <rect class="good" x={x} width={BAR} y={HEIGHT - bad - rest} height={rest} />}
              {bad > 0 && <rect class="bad" x={x} width={BAR} y={HEIGHT - bad} height={bad} />}
            </g>
          );
        })}
      </svg>
      <figcaption class="quiet">
        <span>2 minutes ago</span>
        <span>
          <span class="key good" /> completed <span class="key bad" /> failed · up to {most}/s
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}
