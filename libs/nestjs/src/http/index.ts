export { TakesUpTo } from './body-limit.js';
export { Cursor, Duration, Offset } from './fields.js';
export { idempotencyKeyOf } from './idempotency-key.js';
export type { Health, HealthSource } from './health.controller.js';
export { MooringHttpModule, type MooringHttpOptions } from './http.module.js';
export { HttpGuard, MooringController, type Reply } from './mooring-controller.js';
export { ReceiptAnswer } from './owner-schemas.js';
export { ProblemFilter } from './problem-filter.js';
export {
  answerErrorsWith,
  ApiProblem,
  describeError,
  type DescribedError,
  type Problem,
  type ProblemMore,
} from './problem.js';
export { Caller, ForEverybody, NEEDS, Needs, SCOPES, type CalledRequest, type Scope } from './scopes.js';
