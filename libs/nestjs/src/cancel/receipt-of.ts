import { DurabilityUnknownError, type Receipt } from '#core';

/** The receipt of a cancel, also of one whose durability was not confirmed in time: that one says `durable: false`. */
export async function receiptOf<Answer extends Receipt | undefined>(
  cancelling: Promise<Answer>,
): Promise<Answer> {
  try {
    return await cancelling;
  } catch (error) {
    if (error instanceof DurabilityUnknownError) return error.answer as Answer;
    throw error;
  }
}
