import { ApiProblem, Needs, NotAudited, Touches } from '#http';
import { enoughOf, TakesBytes } from '#workload-kit/api';
import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasPicture, isUnderWay, type DiagramView, type Flaw } from '../diagram.js';
import { DiagramWaiter } from '../diagram-waiter.js';
import { DiagramsService } from '../diagrams.service.js';
import { OWNER_TYPE } from '../diagram-kinds.js';
import { DIAGRAM_TYPES, OUTPUTS } from '../render/types.js';
import { ALIASES, MAX_BODY_BYTES, typeNamed } from './diagram-schemas.js';
import { decodeSource, readSource } from './kroki-source.js';
import { Pictures } from './pictures.js';
import { isInvalid, checkSize, isGone } from './problems.js';

const NAMES = [...DIAGRAM_TYPES, ...Object.keys(ALIASES)];
const RETRY_AFTER_MS = 2_000;

/** Kroki's routes for the known types: a source in, a picture out, in one call. */
@ApiExcludeController()
@Controller(NAMES)
@Needs('enqueue')
@Touches({ ownerTypes: [OWNER_TYPE] })
@NotAudited()
export class KrokiController {
  constructor(
    private readonly diagrams: DiagramsService,
    private readonly waits: DiagramWaiter,
    private readonly pictures: Pictures,
  ) {}

  @Post(':format')
  @HttpCode(200)
  @TakesBytes(MAX_BODY_BYTES)
  async draw(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.answer(readSource(request.body, request.headers['content-type']), request, reply);
  }

  /** A wildcard, because the source may exceed the length limit of a path parameter. */
  @Get(':format/*')
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { '*': encoded = '' } = request.params as Record<string, string>;
    await this.answer(await decodeSource(encoded), request, reply);
  }

  private async answer(source: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { format } = request.params as Record<string, string>;
    // Taken from the route, because the address may be encoded differently.
    const type = typeNamed(request.routeOptions.url!.split('/')[1]!)!;
    const output = OUTPUTS.find((each) => each === format);
    if (!output) throw new ApiProblem(400, 'INVALID', `There is ${OUTPUTS.join(' and ')} of a diagram.`);
    checkSize(source);
    const asked = { type, source, output };
    const id = await this.diagrams.idOf(asked);
    const view = await this.waits.untilOver(id, () => this.diagrams.askUnchecked(asked), enoughOf(reply));
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

/** Kroki's clients show plain text; clients that accept JSON get a problem. */
function refuse(flaw: Flaw, { headers }: FastifyRequest, reply: FastifyReply): void {
  if (/\bjson\b/i.test(headers.accept ?? '')) throw isInvalid(flaw);
  void reply.status(400).type('text/plain; charset=utf-8').send(`Error 400: ${flaw.message}`);
}
