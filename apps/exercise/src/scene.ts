import { owner } from '#core';
import { Enqueuer, QueueReader, type Kind } from '#nestjs';
import type { INestApplicationContext } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Release } from './shop.handlers.js';
import { invoice, label, receipt, type Order } from './shop.kinds.js';

const CUSTOMERS = 25;
const FAILING: readonly (readonly [Kind, number])[] = [
  [receipt, 200],
  [invoice, 180],
  [label, 120],
];
const WITHOUT_MAILBOX = 40;
const ORDER_EVERY_MS = 3_000;

/** Sets the scene: a day of work, a deploy, and 500 jobs that fail by it. Customers go on ordering. */
export class Scene {
  private orders = 0;

  constructor(private readonly app: INestApplicationContext) {}

  async set(): Promise<void> {
    for (let i = 0; i < 60; i += 1) await this.enqueue(label);
    for (let i = 0; i < WITHOUT_MAILBOX; i += 1) await this.enqueue(receipt, { hasMailbox: false });
    await this.untilAllEnded();
    this.app.get(Release).number = 2;
    for (const [kind, count] of FAILING) for (let i = 0; i < count; i += 1) await this.enqueue(kind);
    await this.untilAllEnded();
  }

  /** Customers order at night, too. Returns what ends it. */
  goOn(): () => void {
    const timer = setInterval(() => {
      for (const [kind] of FAILING) void this.enqueue(kind).catch(() => undefined);
    }, ORDER_EVERY_MS);
    return () => clearInterval(timer);
  }

  private async enqueue(kind: Kind, more: Partial<Order> = {}): Promise<void> {
    const number = (this.orders += 1);
    const customer = 1 + (number % CUSTOMERS);
    const order = { order: number, customer, price: 990 + number, currency: 'EUR', ...more };
    await this.app.get(Enqueuer).enqueue(kind, order, { owners: [owner('customer', String(customer))] });
  }

  private async untilAllEnded(): Promise<void> {
    for (;;) {
      const queues = await this.app.get(QueueReader).read();
      const open = queues.flatMap(({ counts }) => [counts['waiting'], counts['active'], counts['delayed']]);
      if (open.every((count = 0) => count === 0)) return;
      await pause(100);
    }
  }
}
