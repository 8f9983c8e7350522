export { readArtifactsUrl, type ArtifactsAddress } from './address.js';
export { ArtifactError, type ArtifactErrorCode } from './artifact-error.js';
export { ArtifactsEnv } from './artifacts-env.js';
export { Artifacts, type Artifact, type ArtifactBytes, type PutOptions, type Walked } from './artifacts.js';
export { openArtifacts } from './open.js';
export type { ByteRange } from './stores/byte-store.js';
