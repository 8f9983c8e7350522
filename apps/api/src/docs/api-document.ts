import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { dump } from 'js-yaml';

/** The OpenAPI document. It is generated on first use and cached. */
export class ApiDocument {
  private app!: NestFastifyApplication;
  private document: { readonly json: Buffer; readonly yaml: Buffer } | undefined;

  /** Sets the application to describe. Call it once the routes are registered. */
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
    this.document ??= write(document(this.app));
    return this.document;
  }
}

function document(app: NestFastifyApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Mooring')
    .setDescription('A BullMQ worker fleet in which every job is moored to an owner.')
    .setVersion('1')
    .addBearerAuth()
    .build();
  const api = SwaggerModule.createDocument(app, config);
  for (const operation of Object.values(api.paths).flatMap((path) => Object.values(path) as Operation[])) {
    // Swagger marks query parameters as required, because it does not read the schema. All of them are optional here.
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in === 'query') parameter.required = false;
    }
  }
  return api;
}

interface Operation {
  readonly parameters?: { readonly in?: string; required?: boolean }[];
}

function write(api: OpenAPIObject): { json: Buffer; yaml: Buffer } {
  return {
    json: Buffer.from(JSON.stringify(api)),
    yaml: Buffer.from(dump(api, { skipInvalid: true, noRefs: true })),
  };
}
