export type ArtifactErrorCode =
  'INVALID' | 'TOO_LARGE' | 'TOO_MANY' | 'REMOVED' | 'STORE_REFUSED' | 'STORE_GONE';

/** What was asked of the artifacts cannot be had; nothing is left of it. */
export class ArtifactError extends Error {
  constructor(
    readonly code: ArtifactErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ArtifactError';
  }
}
