export { Audit, type AuditEvent } from './audit.js';
export { TakesBytes, takesBytes, TakesUpTo, takesUpTo } from './bytes.js';
export { endWaits, enoughOf } from './enough.js';
export { Cursor, Duration, Offset } from './fields.js';
export { SelfContainedPage, type PageParts } from './page.js';
export { ApiProblem, type ProblemMore } from './problem.js';
export { Caller, ForEverybody, NEEDS, Needs, SCOPES, type Called, type Scope } from './scopes.js';
