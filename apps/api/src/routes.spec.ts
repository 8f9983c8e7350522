import { AUDITED, limitsOf, NEEDS, TOUCHES, type Audited, type Touched } from '#http';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiApp, fileKey } from '../../../test/support/api-app.js';

interface Route {
  readonly name: string;
  readonly path: string;
  readonly isSafe: boolean;
  readonly declares: (key: string | symbol) => boolean;
  readonly touched: Touched | undefined;
  /** The parameters of the path that its declarations name. */
  readonly named: readonly string[];
  readonly takesLimits: boolean;
}

/** Every route of the api, also those that its description leaves out. */
function routesOf({ app }: ApiApp): Route[] {
  const controllers = [...app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  return controllers.flatMap(({ metatype }) => {
    const type = metatype as new () => object;
    const names = new MetadataScanner().getAllMethodNames(type.prototype as object);
    return names.flatMap((name): Route[] => {
      const handler = (type.prototype as Record<string, object>)[name]!;
      if (!Reflect.hasMetadata(PATH_METADATA, handler)) return [];
      const args = Object.values(
        (Reflect.getMetadata(ROUTE_ARGS_METADATA, type, name) ?? {}) as Record<string, { factory?: unknown }>,
      );
      const touched = (Reflect.getMetadata(TOUCHES, handler) ??
        Reflect.getMetadata(TOUCHES, type)) as Touched;
      const audited = Reflect.getMetadata(AUDITED, handler) as Audited | null | undefined;
      return [
        {
          name: `${type.name}.${name}`,
          isSafe: Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET,
          declares: (key) => Reflect.hasMetadata(key, handler) || Reflect.hasMetadata(key, type),
          touched,
          named: [
            ...(touched === 'owner' ? ['type', 'id'] : []),
            ...(typeof touched === 'object' && 'job' in touched ? [touched.job] : []),
            ...(audited ? (audited.on ?? (audited.made ? [] : ['id'])) : []),
          ],
          path: `${pathOf(type)}/${pathOf(handler)}`,
          takesLimits: args.some(({ factory }) => factory === limitsOf),
        },
      ];
    });
  });
}

function pathOf(declared: object): string {
  return [Reflect.getMetadata(PATH_METADATA, declared) as string | string[]].flat()[0]!;
}

describe('every route of the api', () => {
  let api: ApiApp;
  let routes: Route[];
  beforeAll(async () => {
    api = await ApiApp.start([fileKey('ops')], { DEMO: 'on' });
    routes = routesOf(api);
  });
  afterAll(() => api.stop());

  const namesOf = (wrong: (route: Route) => boolean): string[] =>
    routes.filter(wrong).map(({ name }) => name);

  it('is found', () => expect(routes.length).toBeGreaterThan(70));

  it('declares its scope', () => {
    expect(namesOf(({ declares }) => !declares(NEEDS))).toEqual([]);
  });

  it('declares what it touches, by @Touches(…)', () => {
    expect(namesOf(({ declares }) => !declares(TOUCHES))).toEqual([]);
  });

  it('has the parameters that its declarations name', () => {
    expect(namesOf(({ path, named }) => named.some((name) => !path.includes(`:${name}`)))).toEqual([]);
  });

  it('takes the limits of its caller if it checks them itself', () => {
    expect(namesOf(({ touched, takesLimits }) => touched === 'checked' && !takesLimits)).toEqual([]);
  });

  it('says whether the audit log has its calls if they change something, by @Audits(…) or @NotAudited()', () => {
    expect(namesOf(({ isSafe, declares }) => !isSafe && !declares(AUDITED))).toEqual([]);
  });
});
