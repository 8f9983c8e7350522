import { Audit, type AuditEvent } from '#http';
import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';

/** Writes audit events into the log. The request's id is on the line as on every other. */
@Injectable()
export class AuditLog extends Audit {
  constructor(private readonly runtime: Runtime) {
    super();
  }

  record(caller: string, event: AuditEvent): void {
    this.runtime.log.info({ ...event, by: caller || 'api' });
  }
}
