import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  isArtifactFile,
  pathOf,
  type ByteRange,
  type ByteStore,
  type Chunks,
  type Folders,
  type Written,
} from './byte-store.js';
import { Measured } from './measured.js';
import { S3Client, type S3Address } from './s3-client.js';
import { spool } from './spool.js';

/** Sorts after every character of a file name. */
const AFTER_ALL = '~';
const MAX_KEYS = 1_000;

/** Stores bytes as objects below one prefix of a bucket. Works with any S3 server that supports path-style addresses. */
export class S3Store implements ByteStore {
  private readonly client: S3Client;

  constructor(
    address: S3Address,
    private readonly root: string,
  ) {
    this.client = new S3Client(address);
  }

  async put(folder: string, file: string, bytes: Chunks, most: number): Promise<Written> {
    const key = pathOf(this.root, folder, file);
    const measured = new Measured(most);
    const spooled = await spool(measured.through(bytes));
    try {
      const written = measured.written();
      // The server verifies the digest, and objects are written atomically.
      const body = { ...written, read: () => spooled.read() };
      (await this.client.call({ method: 'PUT', key, body }, [200])).resume();
      return written;
    } finally {
      await spooled[Symbol.asyncDispose]();
    }
  }

  async open(folder: string, file: string, range?: ByteRange, whole?: number): Promise<Readable | undefined> {
    const key = pathOf(this.root, folder, file);
    const headers = range && { range: `bytes=${range.first}-${range.last}` };
    const answer = await this.client.call({ method: 'GET', key, ...(headers && { headers }) }, [
      range ? 206 : 200,
      404,
      416,
    ]);
    const isThere = answer.statusCode === 200 || answer.statusCode === 206;
    // A truncated object is treated as missing, because its reader would wait for the rest.
    if (isThere && (whole === undefined || [whole, undefined].includes(sizeOf(answer)))) return answer;
    answer.destroy();
    return undefined;
  }

  async remove(folder: string, file: string): Promise<void> {
    const key = pathOf(this.root, folder, file);
    (await this.client.call({ method: 'DELETE', key }, [200, 204, 404])).resume();
  }

  async files(folder: string): Promise<string[]> {
    const prefix = `${pathOf(this.root, folder)}/`;
    const found: string[] = [];
    for (let after: string | undefined; ;) {
      const list = await this.list({ prefix, ...(after && { 'start-after': after }) });
      const keys = all(list, 'Key');
      found.push(...keys.map((key) => key.slice(prefix.length)).filter(isArtifactFile));
      after = keys.at(-1);
      if (!after || !isTruncated(list)) return found;
    }
  }

  /** Servers may truncate a list anywhere, even before the first folder. */
  async folders(shard: string, after: string, limit: number): Promise<Folders> {
    const prefix = `${pathOf(this.root, shard)}/`;
    for (let from = after && `${prefix}${after}/${AFTER_ALL}`; ;) {
      const list = await this.list({
        prefix,
        delimiter: '/',
        'max-keys': String(Math.min(limit, MAX_KEYS)),
        ...(from && { 'start-after': from }),
      });
      const paths = [...list.matchAll(/<CommonPrefixes>\s*<Prefix>([^<]*)<\/Prefix>/g)];
      const names = paths.map(([, path]) => path!.slice(prefix.length, -1));
      const last = all(list, 'Key').at(-1);
      const isMore = isTruncated(list);
      if (names.length > 0 || !isMore) return { names, isMore };
      if (last === undefined)
        throw new Error('The object store truncated a list without a key to continue from.');
      from = last;
    }
  }

  private async list(query: Record<string, string>): Promise<string> {
    return text(
      await this.client.call({ method: 'GET', key: '', query: { 'list-type': '2', ...query } }, [200]),
    );
  }
}

/** Artifact names need no escaping in XML. */
function all(xml: string, tag: string): string[] {
  return [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, value]) => value!);
}

function isTruncated(xml: string): boolean {
  return /<IsTruncated>true<\/IsTruncated>/.test(xml);
}

/** Size of the whole object, also in an answer to a range request. Some servers omit it. */
function sizeOf({ headers }: IncomingMessage): number | undefined {
  const size = headers['content-range']?.split('/')[1] ?? headers['content-length'];
  return size === undefined || size === '*' ? undefined : Number(size);
}
