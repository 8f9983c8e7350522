import { createHash, randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 20;

/**
 * A new job's id: its queue, a hyphen, and 119 random bits. The queue in front lets an id alone find its job;
 * the randomness makes ids impossible to guess, and never a name that BullMQ gives to a key of its own.
 */
export function newJobId(queue: string): string {
  return `${queue}-${randomText()}`;
}

/** The id of the job that does what is named by a text: the same for the same text, and as hard to guess as that. */
export function jobIdFor(queue: string, what: string): string {
  let text = '';
  for (const byte of createHash('sha512').update(what).digest())
    if (text.length < RANDOM_LENGTH) text += ALPHABET[byte % 62];
  return `${queue}-${text}`;
}

/** The queue that an id names, or `undefined` when the id is not one of ours. */
export function queueOfJobId(id: string): string | undefined {
  const hyphen = id.lastIndexOf('-');
  const random = id.slice(hyphen + 1);
  return hyphen > 0 && random.length === RANDOM_LENGTH && /^[0-9A-Za-z]+$/.test(random)
    ? id.slice(0, hyphen)
    : undefined;
}

// Many bytes at once: asking for a few costs as much.
const pool = Buffer.alloc(4096);
let used = pool.length;

// 248 is the largest multiple of 62 in a byte: bytes from there on would favour the first letters.
const CODES = Uint8Array.from({ length: 248 }, (_, byte) => ALPHABET.charCodeAt(byte % 62));
const written = Buffer.alloc(RANDOM_LENGTH);

function randomText(): string {
  for (let length = 0; length < RANDOM_LENGTH;) {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const code = CODES[pool[used++]!];
    if (code !== undefined) written[length++] = code;
  }
  return written.toString('latin1');
}
