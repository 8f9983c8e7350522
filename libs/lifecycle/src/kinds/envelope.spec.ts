import { UnrecoverableError, type Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { CorruptJobError } from '../errors.js';
import { factsOf, openEnvelope } from './envelope.js';

const aJob = (data: unknown, more: object = {}): Job =>
  ({ id: 'q-1', name: 'a.kind', queueName: 'q', data, ...more }) as unknown as Job;
const envelope = { v: 1, o: ['trip:42'], e: ['7'], b: { ms: 5 } };

describe('the envelope of a job', () => {
  it('is opened whole', () => {
    expect(openEnvelope(aJob(envelope))).toEqual(envelope);
  });

  it.each([null, false, 0, '', [], {}, undefined])('may hold the body %j', (b) => {
    expect(openEnvelope(aJob({ ...envelope, b })).b).toEqual(b);
  });

  it('has one to four owners, each with its epoch', () => {
    const four = { o: ['a:1', 'b:2', 'c:3', 'd:4'], e: ['1', '2', '3', '4'] };
    const five = { o: [...four.o, 'e:5'], e: [...four.e, '5'] };
    expect(openEnvelope(aJob({ ...envelope, ...four }))).toEqual({ ...envelope, ...four });
    expect(() => openEnvelope(aJob({ ...envelope, ...five }))).toThrow(CorruptJobError);
    expect(() => openEnvelope(aJob({ ...envelope, o: [], e: [] }))).toThrow(CorruptJobError);
  });

  it('may hold a life, the digest of a key, and a slot', () => {
    const whole = {
      ...envelope,
      x: 300_000,
      d: 'digest',
      s: ['driver:7', 1, 1_700_000_000_000_000],
    };
    expect(openEnvelope(aJob(whole))).toEqual(whole);
  });

  it.each([
    ['no data', undefined],
    ['null', null],
    ['another program’s data', { url: 'http://x' }],
    ['an empty object', {}],
    ['a list', [envelope]],
    ['text', JSON.stringify(envelope)],
    ['a later version', { ...envelope, v: 2 }],
    ['no owners', { v: 1, e: ['7'], b: 1 }],
    ['one owner that is not in a list', { ...envelope, o: 'trip:42' }],
    ['owners that are not text', { ...envelope, o: [42] }],
    ['an owner without a type', { ...envelope, o: ['42'] }],
    ['an owner without an id', { ...envelope, o: ['trip:'] }],
    ['no epochs', { ...envelope, e: undefined }],
    ['an epoch too few', { ...envelope, o: ['a:1', 'b:2'] }],
    ['an epoch that is not text', { ...envelope, e: [7] }],
    ['a life that is none', { ...envelope, x: 'soon' }],
    ['a life with a fraction', { ...envelope, x: 0.5 }],
    ['a life below nothing', { ...envelope, x: -1 }],
    ['a key that is not text', { ...envelope, d: 7 }],
    ['a slot without its limit', { ...envelope, s: ['driver:7'] }],
  ])('is not %s', (_, data) => {
    expect(() => openEnvelope(aJob(data))).toThrow(new CorruptJobError('q-1', 'q'));
  });

  it('belongs to a job with a name', () => {
    expect(() => openEnvelope(aJob(envelope, { name: '' }))).toThrow(CorruptJobError);
  });

  it('that is corrupt ends its job for good', () => {
    const error = new CorruptJobError('q-1', 'q');
    expect(error).toBeInstanceOf(UnrecoverableError);
    expect(error).toMatchObject({
      name: 'CorruptJobError',
      code: 'CORRUPT',
      message: 'Job "q-1" in queue "q" has no envelope of ours: its data is gone or another program made it.',
    });
  });
});

describe('the facts of a job', () => {
  it('name its primary owner', () => {
    expect(factsOf(aJob({ ...envelope, o: ['trip:42', 'site:7'] }))).toEqual({
      queue: 'q',
      kind: 'a.kind',
      jobId: 'q-1',
      owner: 'trip:42',
    });
  });

  it.each([undefined, null, 'text', {}, { o: [] }, { o: null }])(
    'are there also when its data is %j',
    (data) => {
      expect(factsOf(aJob(data, { id: undefined }))).toEqual({
        queue: 'q',
        kind: 'a.kind',
        jobId: '?',
        owner: '?',
      });
    },
  );
});
