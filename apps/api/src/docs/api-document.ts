import { completeDocument, toJsonSchema } from '#http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { dump } from 'js-yaml';
import { DESCRIPTION, TAGS } from './api-texts.js';

const KEY = {
  type: 'http',
  scheme: 'bearer',
  description: 'A key of API_KEYS. An api without keys needs none.',
} as const;

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
    .setOpenAPIVersion('3.1.0')
    .setTitle('Mooring')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .addServer('/', 'The api that serves this document.')
    .addSecurity('bearer', KEY)
    .build();
  config.info.contact = { name: 'Mooring' };
  config.info.license = { name: 'MIT', identifier: 'MIT' } as NonNullable<typeof config.info.license>;
  const api = SwaggerModule.createDocument(app, config, { standardSchemaConverter: toJsonSchema });
  const used = new Set(operationsOf(api).flatMap(({ tags = [] }) => tags));
  api.tags = Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
  return completeDocument(api);
}

function operationsOf(api: OpenAPIObject): { tags?: string[] }[] {
  return Object.values(api.paths).flatMap((path) => Object.values(path) as { tags?: string[] }[]);
}

function write(api: OpenAPIObject): { json: Buffer; yaml: Buffer } {
  return {
    json: Buffer.from(JSON.stringify(api)),
    yaml: Buffer.from(dump(api, { skipInvalid: true, noRefs: true })),
  };
}
