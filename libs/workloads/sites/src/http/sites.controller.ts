import { Audits, Caller, Describes, Needs, NotAudited, Touches } from '#http';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OWNER_TYPE } from '../site-kinds.js';
import { EntityTooLargeError } from '../site-errors.js';
import { SiteAnswer, type SiteView } from '../site-view.js';
import { SitesService } from '../sites.service.js';
import {
  EntityAnswer,
  EntityBody,
  EntityId,
  EntityType,
  MAX_ENTITY_BYTES,
  SiteBody,
} from './site-schemas.js';
import { SITES } from './sites-openapi.js';

/** A host name and port. Any other Host header is not put into URLs. */
const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i;

@Describes(SITES)
@ApiTags('sites')
@ApiBearerAuth()
@Controller('v1/sites')
@Touches({ ownerTypes: [OWNER_TYPE] })
export class SitesController {
  constructor(private readonly sites: SitesService) {}

  @Post()
  @Needs('enqueue')
  @NotAudited()
  @ApiCreatedResponse({ standardSchema: SiteAnswer })
  async create(
    @Body({ schema: SiteBody }) { name, url, pace }: SiteBody,
    @Req() { protocol, host }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SiteView> {
    const here = `${protocol}://${HOST.test(host) ? host : 'localhost'}/sites`;
    const urlOf = (id: string): string => url?.replace(/\/+$/, '') ?? `${here}/${id}`;
    const site = await this.sites.create({ name, url: urlOf, paceMs: pace });
    reply.header('location', `/v1/sites/${site.id}`);
    return site;
  }

  @Get(':id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: SiteAnswer })
  async read(@Param('id') id: string): Promise<SiteView> {
    return this.sites.view(id);
  }

  @Delete(':id')
  @HttpCode(204)
  @Needs('cancel')
  @Audits('site.delete')
  @ApiNoContentResponse({ description: 'Its builds are cancelled; nothing of it can be read any more.' })
  async delete(@Param('id') id: string, @Caller() caller: string): Promise<void> {
    await this.sites.delete(id, caller);
  }

  @Put(':id/entities/:type/:entityId')
  @Needs('enqueue')
  @NotAudited()
  @ApiCreatedResponse({ standardSchema: EntityAnswer })
  @ApiOkResponse({ standardSchema: EntityAnswer, description: 'It was there, and is another now.' })
  async put(
    @Param('id') siteId: string,
    @Param('type', { schema: EntityType }) type: string,
    @Param('entityId', { schema: EntityId }) id: string,
    @Body({ schema: EntityBody }) content: EntityBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EntityAnswer> {
    if (Buffer.byteLength(JSON.stringify(content)) > MAX_ENTITY_BYTES)
      throw new EntityTooLargeError(MAX_ENTITY_BYTES);
    const { outcome, version } = await this.sites.change(siteId, { type, id, content });
    reply.status(outcome === 'created' ? 201 : 200);
    return { type, id, version };
  }

  @Delete(':id/entities/:type/:entityId')
  @HttpCode(204)
  @Needs('enqueue')
  @Audits('site.remove-entity', { on: ['id', 'type', 'entityId'] })
  @ApiNoContentResponse()
  async remove(
    @Param('id') siteId: string,
    @Param('type', { schema: EntityType }) type: string,
    @Param('entityId', { schema: EntityId }) id: string,
  ): Promise<void> {
    await this.sites.change(siteId, { type, id });
  }
}
