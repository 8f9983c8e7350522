/** Whether the owners of a job that starts still live: for kinds with `checkOwner: 'start'`. What cannot be told is unknown. */
export abstract class StartCheck {
  /** Gone if one of them is gone; unknown if one of them is not known. It never rejects. */
  abstract ask(owners: readonly string[]): Promise<'alive' | 'gone' | 'unknown'>;
}
