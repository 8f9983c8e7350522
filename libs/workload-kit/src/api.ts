export { endWaits, enoughOf } from './answer-limit.js';
export { TakesBytes, takesBytes, takesUpTo } from './body-bytes.js';
export { demoPage } from './demo-page.js';
export { DurationMs } from './duration-ms.js';
