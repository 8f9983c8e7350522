import {
  applyDecorators,
  Controller,
  Inject,
  Injectable,
  StandardSchemaValidationPipe,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { AuditInterceptor } from './access/audit.interceptor.js';
import { LimitsGuard } from './access/limits.guard.js';
import { ProblemFilter } from './problem-filter.js';

/** The guard of the application, or true if it guards all its routes itself. */
export const HTTP_GUARD = Symbol('mooring:http-guard');

/** The path under which the routes are, without a slash at the end. */
export const HTTP_PATH = Symbol('mooring:http-path');

@Injectable()
export class HttpGuard implements CanActivate {
  constructor(@Inject(HTTP_GUARD) private readonly guard: CanActivate | true) {}

  canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    return this.guard === true || this.guard.canActivate(context);
  }
}

/** A controller that works in any application: it brings its guards, its validation, its audit and the form of its errors. */
export function MooringController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Controller(`v1/${path}`),
    ApiTags(tag),
    ApiBearerAuth(),
    UseGuards(HttpGuard, LimitsGuard),
    UseInterceptors(AuditInterceptor),
    UseFilters(ProblemFilter),
    UsePipes(StandardSchemaValidationPipe),
  );
}

/** What Fastify and Express have in common. */
export interface Reply {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
}
