import { RouteConfig } from '@nestjs/platform-fastify';

/**
 * Lets a route receive a body of any content type as unparsed bytes, and optionally raises its body limit. Other routes accept
 * only JSON.
 */
export function TakesBytes(upTo?: number): MethodDecorator & ClassDecorator {
  return RouteConfig({ takesBytes: true, ...(upTo !== undefined && { takesUpTo: upTo }) });
}

export function takesBytes(config: unknown): boolean {
  return (config as { takesBytes?: boolean } | undefined)?.takesBytes === true;
}

export function takesUpTo(config: unknown): number | undefined {
  return (config as { takesUpTo?: number } | undefined)?.takesUpTo;
}
