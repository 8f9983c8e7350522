/** Questions that are asked several times in one turn of the event loop are put once, at its end. */
export class Joined<T> {
  private readonly open = new Map<string, Promise<T>>();

  ask(name: string, put: () => Promise<T>): Promise<T> {
    let answer = this.open.get(name);
    if (!answer) {
      answer = new Promise((resolve) => {
        setImmediate(() => {
          this.open.delete(name);
          // An `async` one, so that also what throws at once rejects.
          resolve((async () => put())());
        });
      });
      this.open.set(name, answer);
    }
    return answer;
  }
}
