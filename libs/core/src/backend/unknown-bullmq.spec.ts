import { afterAll, expect, it, vi } from 'vitest';

const TEXTS = '../../../bullmq-scripts/src/texts.js';

afterAll(() => {
  vi.doUnmock(TEXTS);
  vi.resetModules();
});

it('rejects an unknown BullMQ when a queue is constructed', async () => {
  vi.doMock(TEXTS, () => ({ readBullScripts: () => new Map(), bullRelease: () => '6.99.0' }));
  vi.resetModules();
  const { MooredQueue } = await import('../queue/moored-queue.js');

  expect(() => new MooredQueue('audio', { connection: { lazyConnect: true } })).toThrow(
    expect.objectContaining({ code: 'UNKNOWN_BULLMQ' }),
  );
});
