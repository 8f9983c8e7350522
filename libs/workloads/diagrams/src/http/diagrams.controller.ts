import { parseOwner, type Owner } from '#core';
import {
  ApiProblem,
  type CallerLimits,
  Describes,
  Limits,
  Needs,
  NotAudited,
  TakesUpTo,
  Touches,
} from '#http';
import { Body, Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBearerAuth, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { DiagramAnswer, hasPicture, type DiagramView } from '../diagram.js';
import { isDiagramId } from '../diagram-keys.js';
import { OWNER_TYPE } from '../diagram-kinds.js';
import { DiagramsService } from '../diagrams.service.js';
import { DiagramBody, MAX_BODY_BYTES } from './diagram-schemas.js';
import { checkSize, noDiagram } from './problems.js';
import { DIAGRAMS } from './diagrams-openapi.js';

/** HTTP routes for diagrams. */
@Describes(DIAGRAMS)
@ApiTags('diagrams')
@ApiBearerAuth()
@Controller('v1/diagrams')
@Touches({ ownerTypes: [OWNER_TYPE] })
export class DiagramsController {
  constructor(private readonly diagrams: DiagramsService) {}

  @Post()
  @Needs('enqueue')
  @NotAudited()
  @TakesUpTo(MAX_BODY_BYTES)
  @ApiAcceptedResponse({ standardSchema: DiagramAnswer, description: 'It is being made.' })
  @ApiOkResponse({ standardSchema: DiagramAnswer, description: 'It is in the cache.' })
  async ask(
    @Body({ schema: DiagramBody }) { owner, ...request }: DiagramBody,
    @Limits() limits: CallerLimits,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DiagramView> {
    if (owner !== undefined) limits.checkOwners([owner]);
    checkSize(request.source);
    const by = owner === undefined ? undefined : ownerIn(owner);
    const view = await this.diagrams.ask(request, by);
    reply.status(hasPicture(view) ? 200 : 202).header('location', `/v1/diagrams/${view.id}`);
    return view;
  }

  @Get(':id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: DiagramAnswer })
  async read(@Param('id') id: string): Promise<DiagramView> {
    const view = isDiagramId(id) ? await this.diagrams.view(id) : undefined;
    if (!view) throw noDiagram();
    return view;
  }
}

/** Refuses `diagram` owners, which are reserved for render jobs. */
function ownerIn(text: string): Owner {
  const owner = parseOwner(text);
  if (owner.type !== OWNER_TYPE) return owner;
  throw new ApiProblem(400, 'INVALID', `An owner of the type ${OWNER_TYPE} is not for callers.`);
}
