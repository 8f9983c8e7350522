import { RenderLimit } from '../errors.js';
import type { Task } from '../pool/words.js';
import { safeSvg } from '../safe/safe-svg.js';
import { pngOf, type FontFolders } from './png.js';

/** What was drawn, made safe, as the bytes that are asked for. */
export function finish(
  { svg, output, outputBytes, pixels }: Extract<Task, { do: 'finish' }>,
  fonts: FontFolders,
): Uint8Array {
  const safe = safeSvg(svg);
  const bytes = output === 'png' ? pngOf(safe, pixels, fonts) : Buffer.from(safe);
  if (bytes.length <= outputBytes) return bytes;
  throw new RenderLimit('size', `The ${output} has ${bytes.length} bytes; ${outputBytes} are allowed.`);
}
