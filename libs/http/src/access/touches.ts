import { SetMetadata } from '@nestjs/common';

/**
 * What a route reads or changes, so that a caller with limits is held to them:
 *
 * - `nothing`: nothing of jobs and owners;
 * - `fleet`: more than a caller with limits may have. It is refused;
 * - `checked`: what its body, its query or its answer names. The route takes `@Limits()`, and checks or cuts it itself;
 * - `owner`: the owner that `:type` and `:id` name, with all its jobs;
 * - `job`: the job that this parameter of the path names;
 * - `ownerTypes`: owners of these types, with all their jobs.
 */
export type Touched =
  | 'nothing'
  | 'fleet'
  | 'checked'
  | 'owner'
  | { readonly job: string }
  | { readonly ownerTypes: readonly string[] };

/** Metadata key of what a route touches, for the guard. */
export const TOUCHES = Symbol('mooring:touches');

/** Declares what a route touches. A route without it is closed to callers with limits. */
export function Touches(touched: Touched): MethodDecorator & ClassDecorator {
  return SetMetadata(TOUCHES, touched);
}
