import { Get, Headers, Param, Res, StreamableFile } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiProduces, ApiResponse } from '@nestjs/swagger';
import { ArtifactReader } from '#nestjs';
import { Touches } from './access/touches.js';
import { headersOf, isKnown, rangeOf } from './artifact-headers.js';
import { MooringController, type Reply } from './mooring-controller.js';
import { ApiProblem, notFound } from './problem.js';
import { Needs } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { ARTIFACTS } from './openapi/jobs.js';

const NO_SUCH_ARTIFACT = 'The job has no artifact with this name.';
const BYTES = { type: 'string', format: 'binary' } as const;

/** Read the artifacts of a job. */
@Describes(ARTIFACTS)
@MooringController('jobs/:id/artifacts', 'jobs')
export class ArtifactsController {
  constructor(private readonly reader: ArtifactReader) {}

  @Get(':name')
  @Needs('read')
  @Touches({ job: 'id' })
  @ApiProduces('application/octet-stream')
  @ApiHeader({ name: 'If-None-Match', required: false })
  @ApiHeader({ name: 'Range', required: false, description: 'One range of bytes.' })
  @ApiOkResponse({ schema: BYTES, description: 'An attachment. Its ETag is its SHA-256.' })
  @ApiResponse({ status: 206, schema: BYTES, description: 'The requested range.' })
  @ApiResponse({ status: 304, description: 'The caller has the current version.' })
  async read(
    @Param('id') id: string,
    @Param('name') name: string,
    @Headers() headers: Record<string, string | undefined>,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<StreamableFile | undefined> {
    const artifact = (await this.reader.list(id)).find((each) => each.name === name);
    if (!artifact) throw notFound(NO_SUCH_ARTIFACT);
    const { size } = artifact;
    const all = headersOf(artifact);
    if (isKnown(headers['if-none-match'], artifact.sha256)) {
      reply.header('etag', all['etag']!);
      reply.status(304);
      return undefined;
    }
    const range = rangeOf(headers['range'], headers['if-range'], artifact);
    if (range === 'none') throw afterTheEnd(size);
    const bytes = await this.reader.open(id, name, range);
    // The artifact was removed after it was listed.
    if (!bytes) throw notFound(NO_SUCH_ARTIFACT);
    const { first, last } = range ?? { first: 0, last: size - 1 };
    if (range) {
      reply.status(206);
      all['content-range'] = `bytes ${first}-${last}/${size}`;
    }
    for (const [header, value] of Object.entries(all)) reply.header(header, value);
    return new StreamableFile(bytes, { length: last - first + 1 });
  }
}

function afterTheEnd(size: number): ApiProblem {
  const headers = { 'content-range': `bytes */${size}` };
  return new ApiProblem(416, 'RANGE_NOT_SATISFIABLE', `The artifact has ${size} bytes.`, { headers });
}
