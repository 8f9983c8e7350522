import { expect, it, vi } from 'vitest';
import { MooredQueue } from '../queue/moored-queue.js';

vi.mock('../../../bullmq-scripts/src/texts.js', () => ({
  readBullScripts: () => new Map(),
  bullRelease: () => '6.99.0',
}));

it('refuses an unknown BullMQ where a queue is made', () => {
  const make = (): MooredQueue => new MooredQueue('audio', { connection: { lazyConnect: true } });

  expect(make).toThrow(expect.objectContaining({ code: 'UNKNOWN_BULLMQ' }));
});
