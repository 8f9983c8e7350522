import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { PartitionsKit } from '../../../../test/support/partitions-kit.js';
import { MooredFlowProducer, MooredQueue, MooredWorker, Owners } from '../index.js';

interface Closable {
  close(): Promise<unknown>;
}

describe('the number of partitions', () => {
  let kit: PartitionsKit;
  const open: Closable[] = [];

  beforeEach(() => {
    kit = new PartitionsKit();
  });

  afterEach(async () => {
    for (const closable of open.splice(0).toReversed()) await closable.close();
    await kit.stop();
  });

  function keep<T extends Closable>(closable: T): T {
    open.push(closable);
    return closable;
  }

  const refusal = (asked: number, known = 3) => ({ code: 'PARTITIONS', prefix: kit.prefix, known, asked });

  it.each([1, 2, 4])('is refused to a process that has %i instead of 3', async (partitions) => {
    await kit.queue().add('x', {}, { owners: ['track:1'] });
    const place = { ...kit.place, partitions };
    const job = { name: 'x', queueName: 'audio', data: {}, opts: { owners: ['track:1'] } };

    await expect(keep(new MooredQueue('audio', place)).add('x', {})).rejects.toMatchObject(
      refusal(partitions),
    );
    await expect(keep(new MooredQueue('other', place)).count()).rejects.toMatchObject(refusal(partitions));
    await expect(keep(new MooredFlowProducer(place)).add(job)).rejects.toMatchObject(refusal(partitions));
    await expect(keep(new Owners(place)).cancel('track:1')).rejects.toMatchObject(refusal(partitions));
    await expect(keep(new Owners(place)).get('track:1')).rejects.toMatchObject(refusal(partitions));

    expect(await kit.queue().count()).toBe(1);
    await kit.queue().drain();
  });

  it('is refused once to a worker, which then runs nothing', async () => {
    await kit.queue().add('x', {}, { owners: ['track:1'] });
    const errors: unknown[] = [];

    const worker = keep(new MooredWorker('audio', async () => undefined, { ...kit.place, partitions: 2 }));
    worker.on('error', (error) => errors.push(error));

    await until(() => errors.length > 0, 'it has said so');
    await until(() => !worker.isRunning(), 'it does not run');
    expect(errors).toEqual([expect.objectContaining(refusal(2))]);
    await kit.queue().drain();
  });

  it('is refused to a process that has several when a queue has one', async () => {
    const whole = new CoreKit();
    open.push({ close: () => whole.stop() });
    await whole.queue().add('x', {}, { owners: ['track:1'] });
    await until(() => whole.redis.exists(`${whole.prefix}:audio:meta`), 'the queue is set up');
    const place = { ...whole.place, partitions: 2 };

    const added = keep(new MooredQueue('audio', place)).add('x', {}, { owners: ['track:1'] });

    await expect(added).rejects.toMatchObject({ code: 'PARTITIONS', known: 1, asked: 2 });
    expect(await whole.queue().count()).toBe(1);
  });

  it('is refused to a process that has several when any class has one, including other queues, flows and owners', async () => {
    const whole = new CoreKit();
    open.push({ close: () => whole.stop() });
    await whole.queue().add('x', {}, { owners: ['track:1'] });
    const place = { ...whole.place, partitions: 2 };
    const known = { code: 'PARTITIONS', known: 1, asked: 2 };
    const job = { name: 'x', queueName: 'audio', data: {}, opts: { owners: ['track:1'] } };

    await expect(keep(new Owners(place)).get('track:1')).rejects.toMatchObject(known);
    await expect(keep(new MooredQueue('other', place)).add('x', {})).rejects.toMatchObject(known);
    await expect(keep(new MooredFlowProducer(place)).add(job)).rejects.toMatchObject(known);

    expect((await whole.anotherOwners().get('track:1'))?.count).toBe(1);
  });

  it.each([0, -1, 1.5, 257, Number.NaN])('cannot be %d', (partitions) => {
    expect(() => new MooredQueue('audio', { ...kit.place, partitions })).toThrow(
      /partitions is a whole number/,
    );
  });

  it('leaves the keys of queues unchanged if it is 1', async () => {
    const whole = new CoreKit();
    open.push({ close: () => whole.stop() });

    const job = await whole.queue().add('x', {}, { owners: ['track:1'] });

    expect(job.queueQualifiedName).toBe(`${whole.prefix}:audio`);
    expect(await whole.redis.get(`${whole.prefix}~partitions`)).toBe('1');
  });
});
