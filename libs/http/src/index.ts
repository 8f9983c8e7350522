export { AuditInterceptor } from './access/audit.interceptor.js';
export { AUDITED, Audits, NotAudited, type Audited } from './access/audited.js';
export { CallerLimits, Limits, limitsOf } from './access/caller-limits.js';
export { LimitsGuard } from './access/limits.guard.js';
export { TOUCHES, Touches, type Touched } from './access/touches.js';
export { TakesUpTo } from './body-limit.js';
export { Cursor, Duration, Offset } from './fields.js';
export { isKnown } from './artifact-headers.js';
export { idempotencyKeyOf } from './callers-keys.js';
export type {
  PausedAnswer,
  QuarantineAnswer,
  QueuesAnswer,
  SlotAnswer,
  SweepsAnswer,
  SweepWithLines,
} from './admin-schemas.js';
export type { JobAnswer, TicketAnswer } from './job-schemas.js';
export type {
  CancellationsAnswer,
  FlowTreeAnswer,
  JobsAnswer,
  KindsAnswer,
  LogAnswer,
  OwnersAnswer,
  PayloadAnswer,
  WorkersAnswer,
} from './list-schemas.js';
export type { ScheduleAnswer, SchedulesAnswer } from './schedules.controller.js';
export type { Health, HealthSource } from './health.controller.js';
export { MooringHttpModule, type MooringHttpOptions } from './http.module.js';
export { HttpGuard, MooringController, type Reply } from './mooring-controller.js';
export type { HistoryAnswer, HistoryView, OwnerAnswer } from './owner-schemas.js';
export { ReceiptAnswer } from './owner-schemas.js';
export type { OperationAnswer, OperationsAnswer } from './repair-schemas.js';
export { ProblemFilter } from './problem-filter.js';
export {
  ApiProblem,
  describeError,
  notFound,
  type DescribedError,
  type Problem,
  type ProblemMore,
} from './problem.js';
export { Caller, ForEverybody, NEEDS, Needs, SCOPES, type CalledRequest, type Scope } from './scopes.js';
export { completeDocument } from './openapi/complete-document.js';
export { Describes, type RouteDescription } from './openapi/describes.js';
export { toJsonSchema } from './openapi/json-schemas.js';
export type { KnownProblem } from './openapi/known-problems.js';
