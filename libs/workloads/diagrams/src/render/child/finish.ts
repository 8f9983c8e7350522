import { RenderLimit } from '../errors.js';
import type { Answer, Task } from '../pool/words.js';
import { safeSvg } from '../safe/safe-svg.js';
import { pngOf, type FontFolders } from './png.js';

type Finished = Extract<Answer, { said: 'finished' }>;

const MOST_WARNINGS = 20;

/** What was drawn, made safe, as the bytes that are asked for. */
export function finish(
  { svg, output, outputBytes, pixels }: Extract<Task, { do: 'finish' }>,
  fonts: FontFolders,
): Finished {
  const warnings = new Set<string>();
  const safe = safeSvg(svg, (text) => warnings.size < MOST_WARNINGS && warnings.add(text));
  const bytes = output === 'png' ? pngOf(safe, pixels, fonts) : Buffer.from(safe);
  if (bytes.length <= outputBytes) return { said: 'finished', bytes, warnings: [...warnings] };
  throw new RenderLimit('size', `The ${output} has ${bytes.length} bytes; ${outputBytes} are allowed.`);
}
