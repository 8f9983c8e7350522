import { SetMetadata } from '@nestjs/common';

/** As `RouteConfig` of `@nestjs/platform-fastify` has it. An application on Express sets the limit in its body parser. */
const ROUTE_CONFIG = '__fastify_route_config__';

/** Raises the body limit of a route, where the application heeds it. */
export function TakesUpTo(bytes: number): MethodDecorator {
  return SetMetadata(ROUTE_CONFIG, { takesUpTo: bytes });
}
