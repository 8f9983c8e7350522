import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/** Larger bodies are written to disk. */
const IN_MEMORY = 1024 * 1024;

/** Bytes of a stream that can be read repeatedly. */
export interface Spooled extends AsyncDisposable {
  read(): Readable;
}

/** Buffers a stream, because S3 needs its size and digest before the bytes. */
export async function spool(bytes: AsyncIterable<Uint8Array>): Promise<Spooled> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const rest = bytes[Symbol.asyncIterator]();
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    chunks.push(next.value);
    size += next.value.byteLength;
    if (size > IN_MEMORY) return spoolToDisk(chunks, { [Symbol.asyncIterator]: () => rest });
  }
  return { read: () => Readable.from(chunks), [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function spoolToDisk(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>): Promise<Spooled> {
  const folder = await mkdtemp(join(tmpdir(), 'mooring-artifact-'));
  const path = join(folder, 'bytes');
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(path, joined(first, rest), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    await dispose();
    throw error;
  }
  return { read: () => createReadStream(path), [Symbol.asyncDispose]: dispose };
}

async function* joined(
  first: Iterable<Uint8Array>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
}
