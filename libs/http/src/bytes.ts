import { RouteConfig } from '@nestjs/platform-fastify';

/** Says that a route takes a body of any type, as the bytes that came; every other takes JSON and nothing else. */
export function TakesBytes(): MethodDecorator & ClassDecorator {
  return RouteConfig({ takesBytes: true });
}

export function takesBytes(config: unknown): boolean {
  return (config as { takesBytes?: boolean } | undefined)?.takesBytes === true;
}
