import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { UnknownKindError } from '../errors.js';
import { KindRegistry } from './kind.registry.js';
import { defineKind, type Kind } from './kind.js';

const aKind = (name: string, queue = 'q'): Kind => defineKind({ name, queue, payload: z.object({}) });

describe('the registry of kinds', () => {
  it('knows each kind by its name', () => {
    const [a, b] = [aKind('a'), aKind('b')];
    const registry = new KindRegistry();
    registry.add([a]);
    registry.add([b]);
    expect(registry.get('b')).toBe(b);
    expect([registry.has('a'), registry.has('c')]).toEqual([true, false]);
    expect(registry.all()).toEqual([a, b]);
  });

  it('takes the same kind again', () => {
    const kind = aKind('a');
    const registry = new KindRegistry();
    registry.add([kind]);
    registry.add([kind]);
    expect(registry.all()).toEqual([kind]);
  });

  it('refuses two kinds of one name', () => {
    const registry = new KindRegistry();
    registry.add([aKind('a', 'x')]);
    expect(() => registry.add([aKind('a', 'y')])).toThrow(
      new TypeError('Two kinds are named "a" (queues "x" and "y"). Give one of them another name.'),
    );
  });

  it('gives no caller a kind that is not offered', () => {
    const registry = new KindRegistry();
    registry.add([aKind('thumbnails'), { ...aKind('b'), offered: false }]);
    expect(registry.offered('thumbnails').name).toBe('thumbnails');
    expect(() => registry.offered('b')).toThrow(new UnknownKindError('b', ''));
    expect(registry.get('b').name).toBe('b');
  });

  it('suggests to a caller the offered kind whose name is nearest', () => {
    const registry = new KindRegistry();
    registry.add([aKind('thumbnails'), { ...aKind('thumbnail'), offered: false }]);
    const messageOf = (name: string): unknown => {
      try {
        return registry.offered(name).name;
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(messageOf('thumbnail')).toBe('No kind is named "thumbnail". Did you mean thumbnails?');
    expect(messageOf('invoices')).toBe('No kind is named "invoices".');
  });

  it('says which kind it does not know, and what to do', () => {
    expect(() => new KindRegistry().get('a')).toThrow(new UnknownKindError('a'));
    expect(new UnknownKindError('a')).toMatchObject({
      code: 'UNKNOWN_KIND',
      kind: 'a',
      message: 'No kind is named "a". Register it with LifecycleModule.forKinds([…]).',
    });
  });

  it.each(['constructor', '__proto__', 'toString'])('knows nothing of %s', (name) => {
    expect(() => new KindRegistry().get(name)).toThrow(UnknownKindError);
  });
});
