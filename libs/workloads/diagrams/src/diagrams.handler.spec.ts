import { FailedForGood, SnoozeJob, type Run } from '#nestjs';
import { describe, expect, it, vi } from 'vitest';
import { RenderHandler } from './diagrams.handler.js';
import type { DiagramRepository } from './diagram-repository.js';
import { DiagramInvalid, RendererBusy, RenderLimit } from './render/errors.js';
import type { Renderers } from './render/renderers.js';

const PAYLOAD = { type: 'graphviz', output: 'svg', source: 'digraph {}' } as const;

describe('the render job of a diagram', () => {
  const recordFlaw = vi.fn(() => Promise.resolve());
  const recordWarnings = vi.fn(() => Promise.resolve());
  const put = vi.fn(() => Promise.resolve());

  /** Returns what the handler throws or returns. */
  async function handled(
    render: () => Promise<unknown>,
    { word = 'ok', owner = 'diagram', aborted = false } = {},
  ): Promise<unknown> {
    recordFlaw.mockClear();
    put.mockClear();
    recordWarnings.mockClear();
    const diagrams = {
      begin: () => Promise.resolve(word),
      recordFlaw,
      recordWarnings,
    } as unknown as DiagramRepository;
    const renderers = { render, rendererOf: () => Promise.resolve('r 1') };
    const handler = new RenderHandler(diagrams, renderers as unknown as Renderers);
    const owners = [{ type: owner, id: 'a' }];
    const signal = aborted ? AbortSignal.abort() : new AbortController().signal;
    const run = { id: 'job-1', owners, signal, artifacts: { put } } as unknown as Run;
    return handler.handle(PAYLOAD, run).catch((error: unknown) => error);
  }

  it('stores its picture as an artifact, not in its result', async () => {
    const bytes = Buffer.from('<svg/>');
    const drawn = { bytes, contentType: 'image/svg+xml', renderer: 'r 1', warnings: [] };
    expect(await handled(() => Promise.resolve(drawn))).toEqual({ ...drawn, bytes: 6 });
    expect(put).toHaveBeenCalledWith('diagram.svg', bytes, { contentType: 'image/svg+xml' });
  });

  it('records missing parts before the picture counts', async () => {
    const drawn = { bytes: Buffer.from('<svg/>'), contentType: 'image/svg+xml', renderer: 'r 1' };
    put.mockImplementationOnce(() => Promise.resolve(expect(recordWarnings).toHaveBeenCalledOnce()));
    const answer = await handled(() => Promise.resolve({ ...drawn, warnings: ['an image'] }));
    expect(answer).toMatchObject({ warnings: ['an image'] });
    expect(recordWarnings).toHaveBeenCalledWith('a', 'job-1', ['an image']);
  });

  it.each([
    [
      new DiagramInvalid('no such shape', { line: 3, column: 7 }),
      { message: 'no such shape', line: 3, column: 7 },
    ],
    [new RenderLimit('time', 'It took too long.'), { message: 'It took too long.' }],
  ])('fails finally with %s, with the position', async (cause, flaw) => {
    const thrown = await handled(() => Promise.reject(cause));
    expect(thrown).toBeInstanceOf(FailedForGood);
    expect((thrown as Error).message).toBe(flaw.message);
    expect(recordFlaw).toHaveBeenCalledWith('a', 'job-1', flaw);
  });

  const passing = [new RenderLimit('process', 'It died.'), new Error('anything else')];
  it.each(passing)('is retried after %s', async (cause) => {
    expect(await handled(() => Promise.reject(cause))).toBe(cause);
    expect(recordFlaw).not.toHaveBeenCalled();
  });

  it('is postponed while its renderer is busy', async () => {
    expect(await handled(() => Promise.reject(new RendererBusy('d2')))).toBeInstanceOf(SnoozeJob);
  });

  it('records nothing once it was told to stop', async () => {
    const error = new RenderLimit('time', 'killed');
    expect(await handled(() => Promise.reject(error), { aborted: true })).toBe(error);
    expect(recordFlaw).not.toHaveBeenCalled();
  });

  it.each(['other', 'gone'])('does nothing when the diagram is %s', async (word) => {
    const render = vi.fn();
    expect(await handled(render, { word })).toMatchObject({ drawn: false });
    expect(await handled(render, { owner: 'trip' })).toBeInstanceOf(FailedForGood);
    expect(render).not.toHaveBeenCalled();
  });
});
