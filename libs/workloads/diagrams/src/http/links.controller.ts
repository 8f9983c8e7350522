import { ForEverybody, Touches } from '#http';
import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { isLink } from '../diagram-keys.js';
import { DiagramsService } from '../diagrams.service.js';
import { Pictures } from './pictures.js';
import { hasFailed, isGone, noDiagram } from './problems.js';

const RETRY_AFTER_S = 1;

/** Pictures by short link. Every holder of the link may see the picture. */
@ApiExcludeController()
@Controller('d')
@ForEverybody()
@Touches('nothing')
export class LinksController {
  constructor(
    private readonly diagrams: DiagramsService,
    private readonly pictures: Pictures,
  ) {}

  @Get(':link')
  async show(
    @Param('link') link: string,
    @Headers('if-none-match') known: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const view = isLink(link) ? await this.diagrams.viewOfLink(link) : undefined;
    if (!view) throw noDiagram();
    const { id, shortlink, state } = view;
    switch (state) {
      case 'completed':
        return this.pictures.send(view, known, reply);
      case 'pending':
      case 'rendering':
        reply.status(202).headers({ 'retry-after': RETRY_AFTER_S, 'cache-control': 'no-store' });
        return void reply.send({ id, shortlink, state });
      case 'failed':
        throw hasFailed(view.error!);
      case 'cancelled':
        throw isGone('The diagram was cancelled.');
      case 'removed':
        throw isGone('The picture is kept no more.');
    }
  }
}
