import { Inject, Injectable, Scope, type Provider } from '@nestjs/common';
import { DiscoveryModule, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindRegistry } from '../kinds/kind.registry.js';
import { defineKind, type Kind } from '../kinds/kind.js';
import { Handler, Handles } from './handler.js';
import { HandlerRegistry } from './handler.registry.js';
import { Sandbox } from './sandbox.js';

const thumbnail = defineKind({ name: 'media.thumbnail', queue: 'media', payload: z.object({}) });
const export_ = defineKind({ name: 'export', queue: 'exports', payload: z.object({}) });

abstract class Idle extends Handler {
  async handle(): Promise<undefined> {
    return undefined;
  }
}

@Injectable()
@Handles(thumbnail)
class ThumbnailHandler extends Idle {}

@Injectable()
@Handles(thumbnail)
class OtherThumbnailHandler extends Idle {}

@Injectable()
@Handles(export_)
class ExportHandler extends Idle {}

@Injectable({ scope: Scope.REQUEST })
@Handles(export_)
class ScopedExportHandler extends Idle {}

@Injectable()
@Handles(export_)
class AskingExportHandler extends Idle {
  constructor(@Inject(REQUEST) readonly request: unknown) {
    super();
  }
}

@Injectable()
@Handles(defineKind({ name: 'stray', queue: 'strays', payload: z.object({}) }))
class StrayHandler extends Idle {}

@Injectable()
@Handles(thumbnail)
class NoHandler {}

const sandboxed = (sandbox: string): Kind =>
  defineKind({ name: 'render', queue: 'renders', payload: z.object({}), sandbox });
const render = sandboxed(import.meta.url);

@Injectable()
@Handles(render)
class RenderHandler extends Idle {}

async function registryOf(...providers: Provider[]): Promise<{
  registry: HandlerRegistry;
  get: <T>(type: new (...args: never[]) => T) => T;
}> {
  const module = await Test.createTestingModule({
    imports: [DiscoveryModule],
    providers: [HandlerRegistry, KindRegistry, ...providers],
  }).compile();
  module.get(KindRegistry).add([thumbnail, export_, render]);
  return { registry: module.get(HandlerRegistry), get: (type) => module.get(type) };
}

const refusal = (...problems: string[]): Error =>
  new Error(`This worker cannot start:\n  ${problems.join('\n  ')}`);

describe('the registry of handlers', () => {
  it('finds the handler of each kind', async () => {
    const { registry, get } = await registryOf(ThumbnailHandler, ExportHandler);
    registry.find([thumbnail, export_]);
    expect(registry.get('media.thumbnail')).toBe(get(ThumbnailHandler));
    expect(registry.get('export')).toBe(get(ExportHandler));
  });

  it('looks only for the kinds that are taken', async () => {
    const { registry } = await registryOf(ThumbnailHandler, ExportHandler);
    registry.find([thumbnail]);
    expect(registry.get('export')).toBeUndefined();
  });

  it('leaves other providers alone', async () => {
    const others = [
      { provide: 'value', useValue: 1 },
      { provide: 'factory', useFactory: () => new ExportHandler() },
    ];
    const { registry, get } = await registryOf(ThumbnailHandler, ...others);
    registry.find([thumbnail]);
    expect(registry.get('media.thumbnail')).toBe(get(ThumbnailHandler));
  });

  it('names a kind that has no handler', async () => {
    const { registry } = await registryOf(ThumbnailHandler);
    expect(() => registry.find([thumbnail, export_])).toThrow(
      refusal('Kind "export" has no handler: decorate one with @Handles(…) and provide it.'),
    );
  });

  it('names a handler of a kind that is not known, though it takes none of it', async () => {
    const { registry } = await registryOf(ThumbnailHandler, StrayHandler);
    expect(() => registry.find([thumbnail])).toThrow(
      refusal(
        'StrayHandler handles "stray", a kind that this worker does not know: import LifecycleModule.forKinds([…]) with it beside the handler.',
      ),
    );
  });

  it('names both handlers of a kind', async () => {
    const { registry } = await registryOf(ThumbnailHandler, OtherThumbnailHandler);
    expect(() => registry.find([thumbnail])).toThrow(
      refusal('Kind "media.thumbnail" has 2 handlers: ThumbnailHandler, OtherThumbnailHandler.'),
    );
  });

  it.each([ScopedExportHandler, AskingExportHandler])(
    'names a handler that is made for each request: %o',
    async (type) => {
      const { registry } = await registryOf(type);
      expect(() => registry.find([export_])).toThrow(
        refusal(`${type.name} is request-scoped, so no abort signal can reach it. Make it a singleton.`),
      );
    },
  );

  it('names a class that is no handler', async () => {
    const { registry } = await registryOf(NoHandler);
    expect(() => registry.find([thumbnail])).toThrow(
      new TypeError('NoHandler has @Handles but does not extend Handler.'),
    );
  });

  it('needs no class for a kind that runs in a sandbox', async () => {
    const { registry } = await registryOf(ThumbnailHandler);
    registry.find([thumbnail, sandboxed(import.meta.url)]);
    expect(registry.get('render')).toBeInstanceOf(Sandbox);
  });

  it('names a class that would do what a sandbox does', async () => {
    const { registry } = await registryOf(RenderHandler);
    expect(() => registry.find([render])).toThrow(
      refusal(
        'Kind "render" runs in a sandbox and has the handler RenderHandler as well. Leave one of them out.',
      ),
    );
  });

  it('names a sandbox whose file is not there', async () => {
    const { registry } = await registryOf();
    expect(() => registry.find([sandboxed('file:///not/there.js')])).toThrow(
      refusal('Kind "render" runs in a sandbox whose file is not there: /not/there.js.'),
    );
  });

  it('says everything that is wrong at once', async () => {
    const { registry } = await registryOf(ThumbnailHandler, OtherThumbnailHandler, ScopedExportHandler);
    const sweep = defineKind({ name: 'sweep', queue: 'sweeps', payload: z.object({}) });
    expect(() => registry.find([thumbnail, export_, sweep])).toThrow(
      refusal(
        'Kind "media.thumbnail" has 2 handlers: ThumbnailHandler, OtherThumbnailHandler.',
        'ScopedExportHandler is request-scoped, so no abort signal can reach it. Make it a singleton.',
        'Kind "sweep" has no handler: decorate one with @Handles(…) and provide it.',
      ),
    );
  });
});
