export { ConsoleModule, type ConsoleOptions } from './console.module.js';
