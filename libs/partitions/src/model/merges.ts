/** For calls that answer nothing of use. */
export function nothing(): never {
  return undefined as never;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

export function greatest(numbers: readonly number[]): number {
  return Math.max(...numbers);
}

export function some(answers: readonly boolean[]): boolean {
  return answers.some(Boolean);
}

export function every(answers: readonly boolean[]): boolean {
  return answers.every(Boolean);
}

/** The first answer that is one. */
export function first<Answer>(answers: readonly Answer[]): Answer {
  return answers.find((answer) => answer !== null && answer !== undefined) ?? answers[0]!;
}

/** All members are numbers. */
export function addCounts<Counts extends object>(all: readonly Counts[]): Counts {
  const total: Record<string, number> = {};
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
  return total as Counts;
}
