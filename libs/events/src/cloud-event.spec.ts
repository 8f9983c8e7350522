import { describe, expect, it } from 'vitest';
import { InvalidEventError, readEvent } from './cloud-event.js';

const least = { specversion: '1.0', id: 'a-1', source: '/trips', type: 'trip.cancelled' };

function problemsOf(value: unknown): readonly string[] {
  try {
    readEvent(value);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidEventError);
    return (error as InvalidEventError).problems;
  }
}

describe('a CloudEvent', () => {
  it('is read from its JSON form', () => {
    const more = { subject: '42', time: '2026-01-31T12:00:00.5+01:00', data: { a: [1] } };
    expect(readEvent({ ...least, ...more, traceparent: '00-…', dataschema: '/s' })).toEqual({
      id: 'a-1',
      source: '/trips',
      type: 'trip.cancelled',
      subject: '42',
      timeMs: Date.UTC(2026, 0, 31, 11, 0, 0, 500),
      data: { a: [1] },
    });
  });

  it('needs no more than four attributes, and takes null for absent', () => {
    const { specversion: _, ...attributes } = least;
    expect(readEvent(least)).toEqual(attributes);
    expect(readEvent({ ...least, subject: null, time: null })).toEqual(attributes);
  });

  it.each(['specversion', 'id', 'source', 'type'])('is refused without its %s', (name) => {
    expect(problemsOf({ ...least, [name]: undefined })).toEqual([`${name} is missing`]);
    expect(problemsOf({ ...least, [name]: '' })).toEqual([`${name} is not a text of at least one character`]);
    expect(problemsOf({ ...least, [name]: 1 })).toEqual([`${name} is not a text of at least one character`]);
  });

  it.each<[string, object, RegExp]>([
    ['another version', { specversion: '0.3' }, /^specversion is not 1.0 but "0.3"/],
    ['a source that is no reference', { source: 'the trips' }, /^source is not a URI-reference/],
    ['an empty subject', { subject: '' }, /^subject is not a text/],
    ['a time without a zone', { time: '2026-01-31T12:00:00' }, /^time is not a time of RFC 3339/],
    ['a time that there is not', { time: '2026-13-31T12:00:00Z' }, /^time is not a time of RFC 3339/],
    ['a time as a number', { time: 5 }, /^time is not a text/],
    ['a subject too long', { subject: 'x'.repeat(513) }, /^subject has more than 512 characters/],
    ['half a character', { id: 'a\ud800' }, /^id holds half of a surrogate pair/],
    ['data twice', { data: 1, data_base64: 'MQ==' }, /^data and data_base64 are both there/],
    ['data that is not base64', { data_base64: '?' }, /^data_base64 is not base64/],
    ['data that is not what it says', { data_base64: 'ew==' }, /^data is not the JSON/],
    ['data that is not UTF-8', { data_base64: 'Iv8i' }, /^data is not the JSON/],
  ])('with %s is refused', (_what, more, problem) => {
    expect(problemsOf({ ...least, ...more })).toEqual([expect.stringMatching(problem)]);
  });

  it('says all that is wrong with it at once', () => {
    expect(problemsOf({ specversion: '1.0', time: 'now' })).toEqual([
      'id is missing',
      'source is missing',
      'type is missing',
      expect.stringMatching(/^time/),
    ]);
  });

  it.each([null, 1, 'text', [least]])('is an object, not %j', (value) => {
    expect(problemsOf(value)).toEqual(['it is not a JSON object']);
  });

  it('has its data read when that is JSON, in bytes or not, and left alone when it is not', () => {
    const data_base64 = Buffer.from('{"n":"é"}').toString('base64');
    expect(readEvent({ ...least, data_base64 }).data).toEqual({ n: 'é' });
    expect(readEvent({ ...least, data_base64, datacontenttype: 'application/x+json; a=b' }).data).toEqual({
      n: 'é',
    });
    expect(readEvent({ ...least, data_base64, datacontenttype: 'image/png' })).not.toHaveProperty('data');
  });
});
