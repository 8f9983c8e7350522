import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';

import { Needs, notFound, Touches } from '#http';
import { ApiDocument } from './api-document.js';
import { FILES, PAGE, POLICY } from './docs-page.js';

/** Serves the OpenAPI document and Swagger UI. */
@ApiExcludeController()
@Controller()
@Needs('read')
@Touches('nothing')
export class DocsController {
  constructor(private readonly document: ApiDocument) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  json(): Buffer {
    return this.document.json;
  }

  @Get('openapi.yaml')
  @Header('content-type', 'text/yaml; charset=utf-8')
  yaml(): Buffer {
    return this.document.yaml;
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  page(): string {
    return PAGE;
  }

  @Get('docs/*')
  file(@Param('*') name: string, @Res() reply: FastifyReply): void {
    if (name === '') return void reply.redirect('../docs', 308);
    const file = FILES.get(name);
    if (!file) throw notFound('The page has no file with this name.');
    void reply.type(file.type).header('cache-control', 'no-cache').send(file.bytes);
  }
}
