import { Handler, Handles, KindProcessor, type Payload, type Run } from '#nestjs';
import { Processor } from '@nestjs/bullmq';
import { Inject, Injectable } from '@nestjs/common';
import { invoice, label, receipt, type Order } from './shop.kinds.js';

/** Which release of the shop runs. Release 2 has a bug. */
@Injectable()
export class Release {
  number = 1;

  /** Release 2 looks for the currency in a place where no order has it yet. */
  format(order: Order): string {
    const total = this.number === 2 ? (order as unknown as { total: Order }).total : order;
    return `${(order.price / 100).toFixed(2)} ${total.currency}`;
  }
}

@Injectable()
@Handles(receipt)
export class ReceiptHandler extends Handler<typeof receipt> {
  constructor(@Inject(Release) private readonly release: Release) {
    super();
  }

  async handle(order: Payload<typeof receipt>, run: Run): Promise<{ sent: string }> {
    run.log.log(`Release ${this.release.number} sends the receipt of order ${order.order}.`);
    if (!order.hasMailbox) throw new Error(`There is no mailbox of customer ${order.customer}.`);
    return { sent: this.release.format(order) };
  }
}

@Injectable()
@Handles(invoice)
export class InvoiceHandler extends Handler<typeof invoice> {
  constructor(@Inject(Release) private readonly release: Release) {
    super();
  }

  async handle(order: Payload<typeof invoice>, run: Run): Promise<{ invoiced: string }> {
    run.log.log(`Release ${this.release.number} writes the invoice of order ${order.order}.`);
    return { invoiced: this.release.format(order) };
  }
}

@Injectable()
@Handles(label)
export class LabelHandler extends Handler<typeof label> {
  constructor(@Inject(Release) private readonly release: Release) {
    super();
  }

  async handle(order: Payload<typeof label>, run: Run): Promise<{ insured: string }> {
    run.log.log(`Release ${this.release.number} prints the label of order ${order.order}.`);
    return { insured: this.release.format(order) };
  }
}

@Processor(receipt.queue)
export class MailProcessor extends KindProcessor {}

@Processor(invoice.queue)
export class BillingProcessor extends KindProcessor {}

@Processor(label.queue)
export class ShippingProcessor extends KindProcessor {}
