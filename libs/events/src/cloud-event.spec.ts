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

describe('readEvent', () => {
  it('parses an event in its JSON format', () => {
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

  it('requires four attributes and treats null as absent', () => {
    const { specversion: _, ...attributes } = least;
    expect(readEvent(least)).toEqual(attributes);
    expect(readEvent({ ...least, subject: null, time: null })).toEqual(attributes);
  });

  it.each(['specversion', 'id', 'source', 'type'])('rejects an event without %s', (name) => {
    expect(problemsOf({ ...least, [name]: undefined })).toEqual([`${name} is missing`]);
    expect(problemsOf({ ...least, [name]: '' })).toEqual([`${name} is not a text of at least one character`]);
    expect(problemsOf({ ...least, [name]: 1 })).toEqual([`${name} is not a text of at least one character`]);
  });

  it.each<[string, object, RegExp]>([
    ['another version', { specversion: '0.3' }, /^specversion is not 1.0 but "0.3"/],
    ['a source that is not a URI-reference', { source: 'the trips' }, /^source is not a URI-reference/],
    ['an empty subject', { subject: '' }, /^subject is not a text/],
    ['a time without a zone', { time: '2026-01-31T12:00:00' }, /^time is not a time of RFC 3339/],
    ['an impossible time', { time: '2026-13-31T12:00:00Z' }, /^time is not a time of RFC 3339/],
    ['a time as a number', { time: 5 }, /^time is not a text/],
    ['a subject too long', { subject: 'x'.repeat(513) }, /^subject has more than 512 characters/],
    ['half of a surrogate pair', { id: 'a\ud800' }, /^id holds half of a surrogate pair/],
    ['data twice', { data: 1, data_base64: 'MQ==' }, /^data and data_base64 are both present/],
    ['data that is not base64', { data_base64: '?' }, /^data_base64 is not base64/],
    ['data that is not valid JSON', { data_base64: 'ew==' }, /^data is not valid JSON/],
    ['data that is not UTF-8', { data_base64: 'Iv8i' }, /^data is not valid JSON/],
  ])('rejects %s', (_what, more, problem) => {
    expect(problemsOf({ ...least, ...more })).toEqual([expect.stringMatching(problem)]);
  });

  it('reports all problems at once', () => {
    expect(problemsOf({ specversion: '1.0', time: 'now' })).toEqual([
      'id is missing',
      'source is missing',
      'type is missing',
      expect.stringMatching(/^time/),
    ]);
  });

  it.each([null, 1, 'text', [least]])('rejects %j, which is not an object', (value) => {
    expect(problemsOf(value)).toEqual(['it is not a JSON object']);
  });

  it('parses data that is JSON, as text or bytes, and ignores other data', () => {
    const data_base64 = Buffer.from('{"n":"é"}').toString('base64');
    expect(readEvent({ ...least, data_base64 }).data).toEqual({ n: 'é' });
    expect(readEvent({ ...least, data_base64, datacontenttype: 'application/x+json; a=b' }).data).toEqual({
      n: 'é',
    });
    expect(readEvent({ ...least, data_base64, datacontenttype: 'image/png' })).not.toHaveProperty('data');
  });
});
