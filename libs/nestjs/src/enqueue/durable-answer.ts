import { DurabilityUnknownError, type OwnersOptions, type Receipt } from '#core';

/** Whether answers wait until what was written is durable. */
export function isDurable({ durability }: Pick<OwnersOptions, 'durability'>): boolean {
  return durability !== undefined && !('level' in durability && durability.level === 'none');
}

/** What a write has answered, and `durable: false` if its durability was not confirmed in time. */
export async function answerOf<Answer>(
  write: Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly durable: boolean }> {
  try {
    return { answer: await write, durable: true };
  } catch (error) {
    if (error instanceof DurabilityUnknownError) return { answer: error.answer as Answer, durable: false };
    throw error;
  }
}

/** The receipt of a cancel, also of one whose durability was not confirmed in time: that one says `durable: false`. */
export async function receiptOf<Answer extends Receipt | undefined>(
  cancelling: Promise<Answer>,
): Promise<Answer> {
  return (await answerOf(cancelling)).answer;
}
