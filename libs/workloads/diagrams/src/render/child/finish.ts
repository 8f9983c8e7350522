import type { Task } from '../pool/words.js';

export async function finish({ svg }: Extract<Task, { do: 'finish' }>): Promise<Uint8Array> {
  return Buffer.from(svg);
}
