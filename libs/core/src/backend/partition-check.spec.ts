import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { MooredFlowProducer, MooredQueue, MooredWorker, Owners, Slots } from '../index.js';

describe('a class of the core', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const place = (partitions: unknown) => ({ ...kit.place, partitions });
  const made = {
    MooredQueue: (partitions: unknown) => new MooredQueue('audio', place(partitions)),
    MooredWorker: (partitions: unknown) => new MooredWorker('audio', null, place(partitions)),
    MooredFlowProducer: (partitions: unknown) => new MooredFlowProducer(place(partitions)),
    Owners: (partitions: unknown) => new Owners(place(partitions)),
    Slots: (partitions: unknown) => new Slots(place(partitions)),
  };

  it.each(Object.entries(made))(
    'rejects several partitions on construction and accepts one: %s',
    async (_, make) => {
      for (const several of [2, 4, 0, '2']) {
        expect(() => make(several)).toThrow(/@mooring\/partitions/);
      }
      await make(1).close();
      await make(undefined).close();
    },
  );

  it('leaves the client of its connection replaceable, as BullMQ does', async () => {
    const queue = kit.queue();
    const { connection } = queue.backend as unknown as { connection: { client: Promise<unknown> } };
    const client = await connection.client;

    Object.defineProperty(connection, 'client', { get: () => Promise.resolve(client) });

    expect(await connection.client).toBe(client);
  });

  it.each(Object.entries(made))('sets up its prefix with one partition: %s', async (_, make) => {
    const key = `${kit.prefix}~partitions`;
    const first = make(1);
    await until(async () => (await kit.redis.get(key)) === '1', 'the number is written');
    await first.close();

    const second = make(1);
    await second.close();

    expect(await kit.redis.get(key)).toBe('1');
  });

  it('rejects a prefix that was set up with several partitions', async () => {
    await kit.redis.set(`${kit.prefix}~partitions`, '3');
    const refusal = { code: 'PARTITIONS', prefix: kit.prefix, known: 3, asked: 1 };

    await expect(kit.queue().add('x', {}, { owners: ['track:1'] })).rejects.toMatchObject(refusal);
    await expect(kit.owners.get('track:1')).rejects.toMatchObject(refusal);
    await expect(kit.slots().get('gpu')).rejects.toMatchObject(refusal);
  });
});
