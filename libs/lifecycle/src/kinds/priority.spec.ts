import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { QueueReader } from '../read/queue.reader.js';
import { Handler, Handles } from '../run/handler.js';
import { defineKind, type Kind } from './kind.js';
import { owner } from './owner.js';
import { priorityInClass, priorityInQueue } from './priority.js';

const sort = (name: string, more: object = {}): Kind =>
  defineKind({ name, queue: 'mixed', payload: z.any(), ...more });
const urgent = sort('urgent', { class: 'urgent' });
const normal = sort('normal');
const background = sort('background', { class: 'background' });

const taken: string[] = [];

@Injectable()
@Handles(urgent)
class UrgentHandler extends Handler {
  handle(payload: unknown): Promise<void> {
    taken.push(String(payload));
    return Promise.resolve();
  }
}

@Injectable()
@Handles(normal)
class NormalHandler extends UrgentHandler {}

@Injectable()
@Handles(background)
class BackgroundHandler extends UrgentHandler {}

describe('a priority', () => {
  let app: LifecycleApp;
  beforeEach(async () => {
    taken.length = 0;
    app = await LifecycleApp.start(
      [urgent, normal, background],
      [UrgentHandler, NormalHandler, BackgroundHandler],
      { concurrency: 1 },
    );
  });
  afterEach(() => app.stop());

  it('counts among the jobs of a class, and passes none of a class before', async () => {
    const queues = app.context.get(QueueReader);
    await queues.pause('mixed');
    for (const [kind, priority] of [
      [background, 1],
      [normal, 200],
      [normal, 1],
      [urgent, 200],
      [urgent, undefined],
    ] as const)
      await app.context
        .get(Enqueuer)
        .enqueue(kind, `${kind.name} ${priority}`, { owners: [owner('trip', '42')], priority });
    const [mixed] = await queues.read();
    expect(mixed).toMatchObject({ counts: { waiting: 5 }, oldestWaitingMs: expect.any(Number) });

    await queues.resume('mixed');
    await until(() => taken.length === 5, 'all were taken');
    expect(taken).toEqual(['urgent undefined', 'urgent 200', 'normal 1', 'normal 200', 'background 1']);
  });

  it.each([1, 100, 200])('of %i is read back as it was asked for, also of a job from before', (priority) => {
    for (const one of ['urgent', 'normal', 'background'] as const)
      expect(priorityInClass(priorityInQueue(one, priority))).toBe(priority);
    expect(priorityInClass(priority)).toBe(priority);
  });
});
