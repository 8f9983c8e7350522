export type ArtifactErrorCode =
  'INVALID' | 'TOO_LARGE' | 'TOO_MANY' | 'REMOVED' | 'STORE_REFUSED' | 'STORE_GONE';

/** An operation on artifacts failed and left nothing behind. */
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
