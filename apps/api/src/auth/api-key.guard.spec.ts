import { Needs, ProblemFilter } from '#http';
import { Controller, Get } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyGuard, ApiKeys } from './api-key.guard.js';

@Controller()
class SomeRoutes {
  @Get('named')
  @Needs('read')
  named(): string {
    return 'yes';
  }

  @Get('unnamed')
  unnamed(): string {
    return 'yes';
  }
}

describe('ApiKeyGuard', () => {
  const hash = createHash('sha256').update('key').digest();
  const known = [{ name: 'ops', scopes: new Set(['admin', 'read'] as const), hash }];
  let app: NestFastifyApplication;

  beforeAll(async () => {
    const module = await Test.createTestingModule({
      controllers: [SomeRoutes],
      providers: [
        { provide: ApiKeys, useValue: { known } },
        { provide: APP_GUARD, useClass: ApiKeyGuard },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
    await app.init();
  });
  afterAll(() => app.close());

  const get = (url: string): Promise<{ statusCode: number; body: string }> =>
    app.inject({ url, headers: { authorization: 'Bearer key' } });

  it('admits a key with the scope of the route', async () => {
    expect(await get('/named')).toMatchObject({ statusCode: 200 });
  });

  it('refuses every key on a route without a scope', async () => {
    const { statusCode, body } = await get('/unnamed');
    expect({ statusCode, problem: JSON.parse(body) as unknown }).toMatchObject({
      statusCode: 403,
      problem: {
        code: 'FORBIDDEN',
        detail: 'This route declares no scope, so no key can open it. Add @Needs(…) to it.',
      },
    });
  });
});
