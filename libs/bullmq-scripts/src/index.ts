export { compose, guard, readTexts, type ComposedScript, type Recipe } from './composer.js';
export { checkTexts } from './known-texts.js';
export { bullRelease, readBullScripts, type BullScript } from './texts.js';
