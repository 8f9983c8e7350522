/**
 * What is asked for in one turn of the event loop goes to the store together, `most` at a time. Each item is settled on its own.
 */
export class Batch<Item, Answer> {
  private waiting: Entry<Item, Answer>[] = [];

  constructor(
    private readonly most: number,
    private readonly send: (items: readonly Item[]) => Promise<readonly Answer[]>,
  ) {}

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.waiting.length === 1) setImmediate(this.flush);
      if (this.waiting.length >= this.most) this.flush();
    });
  }

  private readonly flush = (): void => {
    const entries = this.waiting;
    if (entries.length === 0) return;
    this.waiting = [];
    this.send(entries.map(({ item }) => item)).then(
      (answers) => entries.forEach(({ resolve }, i) => resolve(answers[i]!)),
      (error: unknown) => entries.forEach(({ reject }) => reject(error)),
    );
  };
}

interface Entry<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
