/** Gathers what is wrong with a kind, to report it in one error. */
export class KindProblems {
  private readonly problems: string[] = [];

  constructor(private readonly kind: string) {}

  check(isRight: boolean, otherwise: string): void {
    if (!isRight) this.problems.push(`${otherwise}.`);
  }

  checkText(what: string, value: unknown): void {
    this.check(typeof value === 'string' && value !== '', `${what} is a text; got ${JSON.stringify(value)}`);
  }

  checkWord(what: string, value: string, words: readonly string[]): void {
    this.check(words.includes(value), `${what} is one of ${words.join(', ')}; got ${JSON.stringify(value)}`);
  }

  checkWhole(what: string, value: number, most: number): void {
    const isRight = Number.isInteger(value) && value >= 1 && value <= most;
    this.check(isRight, `${what} is a whole number from 1 to ${most}; got ${value}`);
  }

  try<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.problems.push((error as Error).message);
      return undefined;
    }
  }

  throwAny(): void {
    if (this.problems.length === 0) return;
    throw new TypeError(
      `Kind "${this.kind}" has ${this.problems.length} problem(s):\n  ${this.problems.join('\n  ')}`,
    );
  }
}
