import { ForEverybody, notFound, ProblemFilter, Touches, type Reply } from '#http';
import { Controller, Get, Headers, Param, Res, StreamableFile, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { builtConsole, type ConsoleFile } from './console-files.js';

/** Everything comes from this origin. No script is inline, and no text becomes markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const YEAR = 'public, max-age=31536000, immutable';

/**
 * Serves the page and its files. They hold no data, so they need no key: the page asks for the key and sends it with each
 * call.
 */
@ApiExcludeController()
@Controller('console')
@ForEverybody()
@Touches('nothing')
@UseFilters(ProblemFilter)
export class ConsoleController {
  private readonly console = builtConsole();

  @Get()
  page(
    @Headers('accept-encoding') accepted: string | undefined,
    @Res({ passthrough: true }) reply: Reply,
  ): StreamableFile {
    if (!this.console) throw notFound('The console is not built. Run: npm run build');
    reply.header('content-security-policy', POLICY);
    reply.header('referrer-policy', 'no-referrer');
    reply.header('cache-control', 'no-cache');
    return send(this.console.page, accepted, reply);
  }

  @Get('assets/:name')
  asset(
    @Param('name') name: string,
    @Headers('accept-encoding') accepted: string | undefined,
    @Res({ passthrough: true }) reply: Reply,
  ): StreamableFile {
    const file = this.console?.assets.get(name);
    if (!file) throw notFound('The console has no file with this name.');
    // A file with another content has another name.
    reply.header('cache-control', YEAR);
    return send(file, accepted, reply);
  }
}

function send({ type, bytes, zipped }: ConsoleFile, accepted = '', reply: Reply): StreamableFile {
  const isZipped = /\bgzip\b/.test(accepted);
  reply.header('vary', 'accept-encoding');
  reply.header('x-content-type-options', 'nosniff');
  if (isZipped) reply.header('content-encoding', 'gzip');
  return new StreamableFile(isZipped ? zipped : bytes, { type });
}
