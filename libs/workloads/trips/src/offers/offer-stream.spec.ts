import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../../test/support/until.js';
import type { OfferEntry, OfferLook } from '../trip-repository.js';
import { OfferStream } from './offer-stream.js';

const NOTHING: OfferLook = { newest: '0-1', standing: '', leftMs: 0, hasMore: false, entries: [] };

const OFFERED: OfferLook = {
  ...NOTHING,
  newest: '9-0',
  standing: 'c',
  leftMs: 1_000,
  entries: [entry('9-0', 'offer', 'c')],
};

function entry(id: string, event: OfferEntry['event'], tripId: string): OfferEntry {
  return { id, event, tripId, more: event === 'offer' ? '1700000000000 rider one' : 'expired' };
}

/** A client that reads only when told to. */
class Line extends Writable {
  text = '';

  constructor(private readonly isRead: boolean) {
    super({ highWaterMark: 1_024 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    if (this.isRead) done();
  }
}

function open(line: Line, look: (last: string) => Promise<OfferLook>): OfferStream {
  return new OfferStream(line as unknown as ServerResponse, look, '', () => undefined);
}

describe('an offer stream', () => {
  it('sends events in order and leaves out offers that were withdrawn before they were shown', async () => {
    const line = new Line(true);
    const asked: string[] = [];
    const looks: OfferLook[] = [
      {
        ...NOTHING,
        newest: '5-0',
        standing: 'b',
        leftMs: 1_000,
        entries: [entry('3-0', 'offer', 'a'), entry('4-0', 'withdrawn', 'a'), entry('5-0', 'offer', 'b')],
      },
    ];
    const stream = open(line, (last) => {
      asked.push(last);
      return Promise.resolve(looks.shift() ?? { ...NOTHING, newest: last });
    });
    stream.begin({ ...NOTHING, newest: '2-0' });
    await until(() => line.text.includes('event: offer'), 'it is reported');
    expect(line.text).toBe(
      [
        'retry: 1000\n\n',
        'id: 4-0\nevent: withdrawn\ndata: {"tripId":"a","reason":"expired"}\n\n',
        'id: 5-0\nevent: offer\ndata: {"tripId":"b","customerId":"rider one","expiresAt":"2023-11-14T22:13:20.000Z"}\n\n',
      ].join(''),
    );
    await stream.tell();
    expect(asked).toEqual(['2-0', '5-0']);
  });

  it('leaves out an offer that has expired but is not withdrawn yet', async () => {
    const line = new Line(true);
    const stream = open(line, () => Promise.resolve({ ...OFFERED, leftMs: 0 }));
    stream.begin(NOTHING);
    await stream.tell();
    expect(line.text).toBe('retry: 1000\n\n');
  });

  it('sends everything the client missed, page by page', async () => {
    const line = new Line(true);
    const pieces = Array.from({ length: 50 }, (_piece, piece) => ({
      ...NOTHING,
      newest: `${piece}-199`,
      hasMore: piece < 49,
      entries: Array.from({ length: 200 }, (_, i) => entry(`${piece}-${i}`, 'withdrawn', `trip-${i}`)),
    }));
    const stream = open(line, (last) => Promise.resolve(pieces.shift() ?? { ...NOTHING, newest: last }));
    stream.begin(NOTHING);
    await until(() => line.text.includes('id: 49-199'), 'it receives the last event');
    expect(line.destroyed).toBe(false);
    expect(line.text.match(/^id: /gm)).toHaveLength(10_000);
  });

  it('reads once more when an event arrives during a read', async () => {
    const line = new Line(true);
    const answers: ((look: OfferLook) => void)[] = [];
    const stream = open(line, () => new Promise((resolve) => answers.push(resolve)));
    stream.begin(NOTHING);
    for (let i = 0; i < 5; i += 1) void stream.tell();
    expect(answers).toHaveLength(1);
    answers[0]!(NOTHING);
    await until(() => answers.length === 2, 'it looks again');
    answers[1]!(NOTHING);
    await until(() => line.text === 'retry: 1000\n\n', 'nothing was to be told');
    expect(answers).toHaveLength(2);
  });

  it('disconnects a client that does not read', async () => {
    const line = new Line(false);
    let i = 0;
    const stream = open(line, () => {
      i += 1;
      return Promise.resolve({
        ...NOTHING,
        newest: `${i}-0`,
        standing: `trip-${i}`,
        leftMs: 1_000,
        entries: [entry(`${i}-0`, 'offer', `trip-${i}`)],
      });
    });
    stream.begin(NOTHING);
    for (let told = 0; told < 2_000 && !line.destroyed; told += 1) await stream.tell();
    expect(line.destroyed).toBe(true);
    expect(line.writableLength).toBeLessThan(80 * 1024);
    const lookedSoFar = i;
    await stream.tell();
    stream.beat();
    expect(i).toBe(lookedSoFar);
  });

  it('continues after a failed read', async () => {
    const line = new Line(true);
    let fails = true;
    const stream = open(line, () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(OFFERED)));
    stream.begin(NOTHING);
    await stream.tell();
    fails = false;
    stream.beat();
    await until(() => line.text.includes('"tripId":"c"'), 'it is reported');
    stream.end();
    expect(line.writableEnded).toBe(true);
  });

  it('retries a failed read by itself', async () => {
    const line = new Line(true);
    let looks = 0;
    const stream = open(line, () => {
      looks += 1;
      return looks <= 2 ? Promise.reject(new Error('away')) : Promise.resolve(OFFERED);
    });
    stream.begin(NOTHING);
    await until(() => line.text.includes('"tripId":"c"'), 'it is reported');
    expect(looks).toBe(3);
    stream.end();
  });
});
