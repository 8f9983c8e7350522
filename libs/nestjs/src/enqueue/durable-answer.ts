import { DurabilityUnknownError, type OwnersOptions } from '#core';

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
