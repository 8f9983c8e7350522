/** Why a run has to stop. */
export type StopReason = 'cancelled' | 'lost' | 'timeout' | 'shutdown';

/** Whether a run was told to stop. */
export interface RunStop {
  readonly stopped: StopReason | undefined;
  /** Aborts when the run is told to stop. It is made when it is first asked for: an AbortSignal costs more than the rest of a run. */
  readonly signal: AbortSignal;
}
