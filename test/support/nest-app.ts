import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** An application of these modules and providers, started as its main.ts would do it. */
export function startNestApp({ imports, providers }: ModuleMetadata): Promise<INestApplicationContext> {
  class App {}
  const root = { module: App, ...(imports && { imports }), ...(providers && { providers }) };
  return NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
}
