import { defineKind, FailedForGood, Handler, Handles, type Run } from '#nestjs';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { perform } from './perform.js';

const thumbnail = defineKind({
  name: 'photo.thumbnail',
  queue: 'photos',
  payload: z.object({ photoId: z.string(), width: z.coerce.number().default(200) }),
  owners: ({ photoId }) => [`photo:${photoId}`],
});

type Does = (payload: { photoId: string; width: number }, run: Run) => unknown;

@Handles(thumbnail)
class ThumbnailHandler extends Handler<typeof thumbnail> {
  constructor(private readonly does: Does) {
    super();
  }

  async handle(payload: { photoId: string; width: number }, run: Run): Promise<unknown> {
    return this.does(payload, run);
  }
}

describe('perform', () => {
  it('gives a handler its payload, its owners and its attempt', async () => {
    const handler = new ThumbnailHandler(({ photoId, width }, { owners, attempt, fence }) => ({
      photoId,
      width,
      owners,
      attempt,
      fence,
    }));

    const { result } = await perform(handler, { photoId: '7' }, { attempt: 2 });

    const owners = [{ type: 'photo', id: '7' }];
    expect(result).toEqual({ photoId: '7', width: 200, owners, attempt: 2, fence: 2 });
  });

  it('answers what the run reported and left', async () => {
    const handler = new ThumbnailHandler(async (_, run) => {
      await run.progress({ done: 1 });
      run.log.warn('slow');
      await run.artifacts.put('small.txt', 'bytes', { contentType: 'text/plain' });
      return { children: await run.children(), at: new Date(0) };
    });
    const children = [{ id: 'c', kind: 'k', state: 'completed', result: 1 }] as const;

    const performed = await perform(handler, { photoId: '7' }, { children });

    expect(performed).toEqual({
      result: { children, at: '1970-01-01T00:00:00.000Z' },
      progress: [{ done: 1 }],
      log: [{ level: 'warn', text: 'slow' }],
      artifacts: new Map([['small.txt', Buffer.from('bytes')]]),
    });
  });

  it('refuses a payload that the kind would refuse', async () => {
    const handler = new ThumbnailHandler(() => undefined);
    await expect(perform(handler, { photoId: 7 } as never)).rejects.toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining('photoId'),
    });
  });

  it('rejects with the error of the handler', async () => {
    const handler = new ThumbnailHandler(() => {
      throw new FailedForGood('no such photo');
    });
    await expect(perform(handler, { photoId: '7' })).rejects.toThrow(FailedForGood);
  });

  it.each(['cancelled', 'timeout'] as const)('tells the run to stop: %s', async (stopReason) => {
    const handler = new ThumbnailHandler(async (_, { signal }) => {
      await once(signal, 'abort');
      return signal.reason as string;
    });
    expect(await perform(handler, { photoId: '7' }, { stopAfter: 1, stopReason })).toMatchObject({
      result: stopReason,
    });
  });

  it('does not let a cancelled run leave artifacts', async () => {
    const handler = new ThumbnailHandler((_, run) => run.artifacts.put('late.txt', 'bytes'));
    await expect(perform(handler, { photoId: '7' }, { stopAfter: 0 })).rejects.toThrow('cancelled');
  });

  it('names the class that has no kind', async () => {
    class Plain extends Handler {
      handle(): Promise<void> {
        return Promise.resolve();
      }
    }
    await expect(perform(new Plain(), {})).rejects.toThrow('Plain has no kind');
  });
});
