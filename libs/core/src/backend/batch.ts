/** How many items go in one step, and how many steps are under way at a time. */
export interface Pace {
  readonly most: number;
  /** For items that do not follow at once from the answers of a step: a smaller step is answered sooner. */
  readonly mostOfSlow: number;
  readonly stepsUnderWay: number;
}

/**
 * What is asked for in one turn of the event loop goes to the store together, one step a turn. While the store works on some, the next
 * one fills. Each item is settled on its own.
 */
export class Batch<Item, Answer> {
  private waiting: Entry<Item, Answer>[] = [];
  private underWay = 0;
  private isScheduled = false;
  private isAnswering = false;
  private isFast = false;

  constructor(
    private readonly pace: Pace,
    private readonly send: (items: readonly Item[]) => Promise<readonly Answer[]>,
  ) {}

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.isFast = this.isAnswering;
      if (this.waiting.length >= this.pace.most) this.sendStep();
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.isScheduled || this.waiting.length === 0) return;
    this.isScheduled = true;
    setImmediate(this.endTurn);
  }

  private readonly endTurn = (): void => {
    this.isScheduled = false;
    if (this.sendStep()) this.schedule();
  };

  private sendStep(): boolean {
    const { length } = this.waiting;
    if (length === 0 || this.underWay >= this.pace.stepsUnderWay) return false;
    const steps = Math.ceil(length / (this.isFast ? this.pace.most : this.pace.mostOfSlow));
    const entries = this.waiting.splice(0, Math.ceil(length / steps));
    this.underWay += 1;
    this.send(entries.map(({ item }) => item)).then(
      (answers) => this.settle(() => entries.forEach(({ resolve }, i) => resolve(answers[i]!))),
      (error: unknown) => this.settle(() => entries.forEach(({ reject }) => reject(error))),
    );
    return true;
  }

  private settle(answer: () => void): void {
    this.underWay -= 1;
    this.isAnswering = true;
    process.nextTick(() => (this.isAnswering = false));
    answer();
    this.schedule();
  }
}

interface Entry<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
