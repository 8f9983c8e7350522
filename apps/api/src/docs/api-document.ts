import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { dump } from 'js-yaml';

/** The description was asked for before the application was named whose routes it lists. */
export class ApiNotDescribedError extends Error {
  constructor() {
    super('The api is not described yet. Call ApiDocument.describe(app) once its routes are known.');
    this.name = 'ApiNotDescribedError';
  }
}

/** The api's description of itself. It is made once, when it is first asked for; every caller is sent the same bytes. */
export class ApiDocument {
  private app: NestFastifyApplication | undefined;
  private made: { readonly json: Buffer; readonly yaml: Buffer } | undefined;

  /** The application that it describes, once its routes are known. */
  describe(app: NestFastifyApplication): void {
    this.app = app;
  }

  get json(): Buffer {
    return this.bytes().json;
  }

  get yaml(): Buffer {
    return this.bytes().yaml;
  }

  private bytes(): { readonly json: Buffer; readonly yaml: Buffer } {
    if (!this.app) throw new ApiNotDescribedError();
    this.made ??= write(document(this.app));
    return this.made;
  }
}

function document(app: NestFastifyApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Mooring')
    .setDescription('A BullMQ worker fleet in which every job is moored to an owner.')
    .setVersion('1')
    .addBearerAuth()
    .build();
  const made = SwaggerModule.createDocument(app, config);
  for (const operation of Object.values(made.paths).flatMap((path) => Object.values(path) as Operation[])) {
    // Swagger reads no schema for that. No call here needs one: what it cannot do without is in its path or its body.
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in === 'query') parameter.required = false;
    }
  }
  return made;
}

interface Operation {
  readonly parameters?: { readonly in?: string; required?: boolean }[];
}

function write(made: OpenAPIObject): { json: Buffer; yaml: Buffer } {
  return {
    json: Buffer.from(JSON.stringify(made)),
    yaml: Buffer.from(dump(made, { skipInvalid: true, noRefs: true })),
  };
}
