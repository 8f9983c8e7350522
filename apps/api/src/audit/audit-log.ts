import { Audit, type AuditEvent } from '#http';
import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';

/** Writes audit events to the log. The log context adds the request id. */
@Injectable()
export class AuditLog extends Audit {
  constructor(private readonly runtime: Runtime) {
    super();
  }

  record(caller: string, event: AuditEvent): void {
    this.runtime.log.info({ ...event, by: caller || 'api' });
  }
}
