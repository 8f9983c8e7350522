import { describe, expect, it } from 'vitest';
import { checkTexts, KNOWN_TEXTS } from './known-texts.js';
import { bullRelease, readBullScripts } from './texts.js';

describe('the texts of BullMQ', () => {
  const composed = Object.keys(KNOWN_TEXTS);

  it('are read from the installed BullMQ without a connection, and are known', () => {
    const bull = readBullScripts();

    expect(bull.get('moveToFinished')).toMatchObject({ numberOfKeys: 14 });
    expect(() => checkTexts(composed, bull, bullRelease())).not.toThrow();
  });

  it.each(composed)('are refused with a clear error when %s has changed', (name) => {
    const changed = new Map(readBullScripts());
    changed.set(name, { ...changed.get(name)!, digest: 'another' });

    expect(() => checkTexts(composed, changed, '6.99.0')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_BULLMQ',
        message: expect.stringContaining(`BullMQ 6.99.0 has a script "${name}"`),
      }),
    );
  });
});
