export * from './api-types.js';
export {
  MooringClient,
  type AnswerOf,
  type CallName,
  type CallOptions,
  type InputOf,
} from './mooring-client.js';
export { ProblemError, UnreachableError } from './errors.js';
