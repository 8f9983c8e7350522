import { ApiOperation } from '@nestjs/swagger';
import { NEEDS, type Scope } from '../scopes.js';
import type { KnownCode, KnownProblem } from './known-problems.js';

/** What the OpenAPI document says of a route besides its schemas. */
export interface RouteDescription {
  /** The operationId. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Of the parameters in the path, the query and the headers, by name: what each is, and an example. */
  readonly parameters?: Readonly<Record<string, readonly [description: string, example?: unknown]>>;
  /** Examples. The tests send the body, and compare the answers with the schemas. */
  readonly body?: unknown;
  readonly answers?: Readonly<Record<number, unknown>>;
  /** Besides what can happen to every call. Codes that this library does not know come with their status and detail. */
  readonly problems?: readonly (KnownCode | KnownProblem)[];
}

/** Where the description is in an operation until `completeDocument` has read it. */
export const DESCRIPTION = 'x-mooring';

/** As it is in an operation. */
export interface DescribedRoute extends RouteDescription {
  readonly scope?: Scope | null | undefined;
}

/** Describes the routes of a controller, by the names of its methods. Put it above `@Needs`. */
export function Describes<Names extends string>(
  routes: Readonly<Record<Names, RouteDescription>>,
): (controller: { readonly prototype: Record<Names, unknown> }) => void {
  return (controller) => {
    for (const [name, route] of Object.entries<RouteDescription>(routes)) {
      const method = controller.prototype[name as Names] as object;
      const scope = (Reflect.getMetadata(NEEDS, method) ?? Reflect.getMetadata(NEEDS, controller)) as Scope;
      const { id: operationId, summary } = route;
      ApiOperation({ operationId, summary, [DESCRIPTION]: { ...route, scope } } as object)(
        controller.prototype,
        name,
        { value: method } as PropertyDescriptor,
      );
    }
  };
}
