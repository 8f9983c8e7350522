import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** What an answer says to a browser unless its route says otherwise: show it in no frame, run nothing, guess no type. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

export function forbidFrames(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (_request, reply, done) => {
      reply.headers(HEADERS);
      done();
    });
}
