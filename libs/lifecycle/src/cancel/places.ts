/** A job's place in its owner's index, as far as a clean-up has to know it. */
export interface Place {
  readonly jobId: string;
  readonly epoch: number;
  /** When it was last wanted, ms. */
  readonly wantedAt: number;
  readonly hasBegun: boolean;
  /** The token of its newest run; '' when it has not begun. */
  readonly token: string;
}

/** The places among the fields of an owner's record: see keys.ts. */
export function readPlaces(fields: readonly string[]): Place[] {
  const places: Place[] = [];
  for (let i = 0; i < fields.length; i += 2) places.push(readPlace(fields[i]!.slice(1), fields[i + 1]!));
  return places;
}

export function readPlace(jobId: string, text: string): Place {
  const [epoch, wantedAt, fence, token = ''] = text.split('|');
  return { jobId, epoch: Number(epoch), wantedAt: Number(wantedAt), hasBegun: fence !== '0', token };
}
