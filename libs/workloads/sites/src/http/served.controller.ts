import { ForEverybody, isKnown, Touches } from '#http';
import { Controller, Get, Headers, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServedSites } from '../served-sites.js';
import { NoSuchPageError } from '../site-errors.js';
import { isSiteId } from '../site-keys.js';

/** Pages hold content of other people under our address: it is escaped, and the policy forbids scripts. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** The built sites, without authentication. */
@ApiExcludeController()
@Controller('sites')
@ForEverybody()
@Touches('nothing')
export class ServedController {
  constructor(private readonly served: ServedSites) {}

  @Get(':id')
  home(@Param('id') id: string, @Res() reply: FastifyReply): void {
    // Pages link to each other by relative addresses, which need the trailing slash.
    void reply.redirect(`/sites/${encodeURIComponent(id)}/`, 308);
  }

  @Get(':id/*')
  async page(
    @Param('id') id: string,
    @Req() { url }: FastifyRequest,
    @Headers('if-none-match') known: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const hasCopy = (etag: string): boolean => isKnown(known, etag);
    const page = isSiteId(id) ? await this.served.find(id, rest(url), hasCopy) : undefined;
    if (!page) throw new NoSuchPageError();
    const { route, bytes } = page;
    void reply.headers({ ...HEADERS, etag: `"${route.etag}"` });
    if (!bytes) return void reply.status(304).send();
    void reply.type(route.contentType).header('content-length', route.size).send(bytes);
  }
}

/** The part of the URL after `/sites/<id>`, undecoded. */
function rest(url: string): string {
  const [path = ''] = url.split('?');
  return path.split('/').slice(3).join('/');
}
