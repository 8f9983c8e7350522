import { ApiProblem, enoughOf, Needs, TakesBytes } from '#http';
import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasPicture, isUnderWay, type DiagramView, type Flaw } from '../diagram.js';
import { DiagramWaits } from '../diagram.waits.js';
import { DiagramsService } from '../diagrams.service.js';
import { DIAGRAM_TYPES, OUTPUTS } from '../render/types.js';
import { ALIASES, MAX_BODY_BYTES, typeNamed } from './diagrams.schemas.js';
import { decodeSource, readSource } from './kroki.source.js';
import { Pictures } from './pictures.js';
import { isInvalid, checkSize, isGone } from './problems.js';

const NAMES = [...DIAGRAM_TYPES, ...Object.keys(ALIASES)];
const RETRY_AFTER_MS = 2_000;

/** As Kroki has it, for the types that are known here: a source in, a picture out, in one call. */
@ApiExcludeController()
@Controller(NAMES)
@Needs('enqueue')
export class KrokiController {
  constructor(
    private readonly diagrams: DiagramsService,
    private readonly waits: DiagramWaits,
    private readonly pictures: Pictures,
  ) {}

  @Post(':format')
  @HttpCode(200)
  @TakesBytes(MAX_BODY_BYTES)
  async draw(
    @Param('format') format: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.answer(readSource(request.body, request.headers['content-type']), format, request, reply);
  }

  /** The source may be longer than a parameter of a path: it is the rest of it. */
  @Get(':format/*')
  async show(
    @Param('format') format: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { '*': encoded = '' } = request.params as Record<string, string>;
    await this.answer(await decodeSource(encoded), format, request, reply);
  }

  private async answer(
    source: string,
    format: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    // As the route has it: the address itself may be written otherwise.
    const type = typeNamed(request.routeOptions.url!.split('/')[1]!)!;
    const output = OUTPUTS.find((each) => each === format);
    if (!output) throw new ApiProblem(400, 'INVALID', `There is ${OUTPUTS.join(' and ')} of a diagram.`);
    checkSize(source);
    const asked = { type, source, output };
    const id = await this.diagrams.idOf(asked);
    const ask = (): Promise<DiagramView> => this.diagrams.askUnchecked(asked);
    const view = await this.waits.untilOver(id, ask, enoughOf(reply));
    await this.send(view, request, reply);
  }

  private async send(
    view: DiagramView | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    if (!view) throw isGone('The diagram was cancelled.');
    void reply.header('location', view.url);
    if (hasPicture(view)) return this.pictures.send(view, request.headers['if-none-match'], reply);
    if (isUnderWay(view)) throw notYet(view);
    if (view.state === 'failed') return refuse(view.error!, request, reply);
    throw isGone('The diagram was cancelled.');
  }
}

function notYet({ url }: DiagramView): ApiProblem {
  const detail = `It is not drawn yet. It will be at ${url}, or ask again.`;
  return new ApiProblem(504, 'NOT_YET', detail, { retryAfterMs: RETRY_AFTER_MS });
}

/** Kroki's clients show the text; whoever wants JSON gets a problem. */
function refuse(flaw: Flaw, { headers }: FastifyRequest, reply: FastifyReply): void {
  if (/\bjson\b/i.test(headers.accept ?? '')) throw isInvalid(flaw);
  void reply.status(400).type('text/plain; charset=utf-8').send(`Error 400: ${flaw.message}`);
}
