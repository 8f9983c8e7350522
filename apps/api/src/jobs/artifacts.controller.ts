import { ArtifactReader, type Artifact, type ArtifactRange } from '#lifecycle';
import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiHeader,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiProduces,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Needs } from '../auth/api-key.guard.js';
import { ApiProblem } from '../problem.js';
import { headersOf, isKnown, rangeOf } from './artifact-headers.js';

const BYTES = { type: 'string', format: 'binary' } as const;

/** Read the artifacts of a job. */
@ApiTags('jobs')
@ApiBearerAuth()
@Controller('v1/jobs/:id/artifacts')
@Needs('read')
export class ArtifactsController {
  constructor(private readonly reader: ArtifactReader) {}

  @Get(':name')
  @ApiProduces('application/octet-stream')
  @ApiHeader({ name: 'If-None-Match', required: false })
  @ApiHeader({ name: 'Range', required: false, description: 'One range of bytes.' })
  @ApiOkResponse({ schema: BYTES, description: 'An attachment. Its ETag is its SHA-256.' })
  @ApiResponse({ status: 206, schema: BYTES, description: 'The requested range.' })
  @ApiResponse({ status: 304, description: 'The caller has the current version.' })
  @ApiResponse({ status: 416, description: 'The range begins after the end.' })
  @ApiResponse({ status: 503, description: 'The bytes are missing or cannot be reached.' })
  @ApiNotFoundResponse({ description: 'The job has no such artifact, or its run has not completed.' })
  async read(
    @Param('id') id: string,
    @Param('name') name: string,
    @Headers() headers: Record<string, string | undefined>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const artifact = (await this.reader.list(id)).find((each) => each.name === name);
    if (!artifact) throw notFound();
    if (isKnown(headers['if-none-match'], artifact.sha256)) {
      const { etag } = headersOf(artifact);
      return void reply.status(304).header('etag', etag).send();
    }
    const range = rangeOf(headers['range'], headers['if-range'], artifact);
    if (range === 'none') {
      reply.header('content-range', `bytes */${artifact.size}`);
      throw new ApiProblem(416, 'RANGE_NOT_SATISFIABLE', `The artifact has ${artifact.size} bytes.`);
    }
    await this.send(id, artifact, range, reply);
  }

  private async send(
    id: string,
    artifact: Artifact,
    range: ArtifactRange | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    const bytes = await this.reader.open(id, artifact.name, range);
    // The artifact was removed after it was listed.
    if (!bytes) throw notFound();
    const { first, last } = range ?? { first: 0, last: artifact.size - 1 };
    if (range) reply.status(206).header('content-range', `bytes ${first}-${last}/${artifact.size}`);
    void reply
      .headers(headersOf(artifact))
      .header('content-length', last - first + 1)
      .send(bytes);
  }
}

function notFound(): ApiProblem {
  return new ApiProblem(404, 'NOT_FOUND', 'The job has no artifact with this name.');
}
