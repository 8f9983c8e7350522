import { AuditLog, Journal, type AuditRecord } from '#nestjs';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { catchError, concatMap, from, map, of, throwError, type Observable } from 'rxjs';
import { statusOfError } from '../problem.js';
import type { CalledRequest } from '../scopes.js';
import { AUDITED, type Audited } from './audited.js';

type Body = Readonly<Record<string, unknown>> | null | undefined;
type Request = CalledRequest & {
  readonly ip?: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body?: Body;
};

/** The call was not understood, names nothing, or found no store, which could not take an entry either. It has changed nothing. */
const UNNOTED: ReadonlySet<number> = new Set([400, 404, 503]);

/** Longer than an entry of the log takes. A caller does not wait for a log that cannot be written. */
const WRITE_MS = 1_000;

/**
 * Enters a change in the audit log after it was made, and before its caller is answered. If the process dies between the two, the
 * change stands without an entry; the records of the change itself (receipt, history, operation) have the name of the caller all the same.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly log: AuditLog,
    private readonly journal: Journal,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const audited = this.reflector.getAllAndOverride<Audited | null | undefined>(AUDITED, [
      context.getHandler(),
      context.getClass(),
    ]);
    // An application may have this interceptor, and a controller its own.
    if (!audited || request.isAudited) return next.handle();
    request.isAudited = true;
    const status = (): number =>
      context.switchToHttp().getResponse<{ readonly statusCode: number }>().statusCode;
    return next.handle().pipe(
      catchError((error: unknown) => {
        const failed = statusOfError(error);
        if (UNNOTED.has(failed)) return throwError(() => error);
        const outcome = failed < 500 ? 'refused' : 'failed';
        const entry = entryOf(audited, request, subjectOf(audited, request));
        return from(this.write({ ...entry, outcome, status: failed })).pipe(
          concatMap(() => throwError(() => error)),
        );
      }),
      concatMap((answer) => {
        const on = audited.made ? audited.made(answer as never) : subjectOf(audited, request);
        if (on === undefined) return of(answer);
        const entry = entryOf(audited, request, on);
        return from(this.write({ ...entry, outcome: 'done', status: status() })).pipe(map(() => answer));
      }),
    );
  }

  private async write(entry: AuditRecord): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('The store did not answer in time.')), WRITE_MS);
    });
    try {
      await Promise.race([this.log.write(entry), late]);
    } catch (error) {
      // What was done is done, and its caller has to know.
      this.journal.trouble('The audit log', error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function entryOf(
  { what, details = [] }: Audited,
  { caller, id: requestId = '', ip: address, body }: Request,
  on: string,
): Omit<AuditRecord, 'outcome' | 'status'> {
  const noted = details.flatMap((name) => (body?.[name] === undefined ? [] : [[name, body[name]] as const]));
  const facts = { who: caller || 'api', what, on, requestId, address };
  return noted.length > 0 ? { ...facts, details: Object.fromEntries(noted) } : facts;
}

function subjectOf({ on: names }: Audited, { params }: Request): string {
  if (names) return names.map((name) => params[name] ?? '').join('/');
  const { type, id = '' } = params;
  return type === undefined ? id : `${type}:${id}`;
}
