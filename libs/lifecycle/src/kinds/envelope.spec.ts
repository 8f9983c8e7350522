import { UnrecoverableError, type Job } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { CorruptJobError } from '../errors.js';
import { factsOf, openEnvelope } from './envelope.js';

const aJob = (data: unknown, more: object = {}): Job =>
  ({ id: 'q-1', name: 'a.kind', queueName: 'q', data, ...more }) as unknown as Job;
const envelope = { v: 1, owners: ['trip:42'], body: { ms: 5 } };

describe('the envelope of a job', () => {
  it('is opened whole', () => {
    expect(openEnvelope(aJob(envelope))).toEqual(envelope);
  });

  it.each([null, false, 0, '', [], {}, undefined])('may hold the body %j', (body) => {
    expect(openEnvelope(aJob({ ...envelope, body })).body).toEqual(body);
  });

  it('may have no body', () => {
    const { body: _, ...bodiless } = envelope;
    expect(openEnvelope(aJob(bodiless))).toEqual(bodiless);
  });

  it('has one to four owners', () => {
    const owners = ['a:1', 'b:2', 'c:3', 'd:4'];
    expect(openEnvelope(aJob({ ...envelope, owners })).owners).toEqual(owners);
    expect(() => openEnvelope(aJob({ ...envelope, owners: [...owners, 'e:5'] }))).toThrow(CorruptJobError);
    expect(() => openEnvelope(aJob({ ...envelope, owners: [] }))).toThrow(CorruptJobError);
  });

  it.each([
    ['no data', undefined],
    ['null', null],
    ['another program’s data', { url: 'http://x' }],
    ['an empty object', {}],
    ['a list', [envelope]],
    ['text', JSON.stringify(envelope)],
    ['a later version', { ...envelope, v: 2 }],
    ['no owners', { v: 1, body: 1 }],
    ['one owner that is not in a list', { ...envelope, owners: 'trip:42' }],
    ['owners that are not text', { ...envelope, owners: [42] }],
    ['an owner that cannot be read', { ...envelope, owners: ['nonsense'] }],
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
    expect(factsOf(aJob({ ...envelope, owners: ['trip:42', 'site:7'] }))).toEqual({
      queue: 'q',
      kind: 'a.kind',
      jobId: 'q-1',
      owner: 'trip:42',
    });
  });

  it.each([undefined, null, 'text', {}, { owners: [] }, { owners: null }])(
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
