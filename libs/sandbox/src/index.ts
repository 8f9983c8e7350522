export { Sandbox, type SandboxEnd } from './sandbox.js';
export type { SandboxTools } from './sandbox-words.js';
