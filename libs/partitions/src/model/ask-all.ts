/** An object that is the first of its parts itself. BullMQ's constructors call it before it has any. */
interface OverParts {
  readonly parts?: readonly object[];
}

type Method = (this: unknown, ...args: readonly unknown[]) => Promise<unknown>;

/** For each method that asks all parts, how their answers become one. */
export type Merges<Plain> = {
  readonly [Name in keyof Plain]?: Plain[Name] extends (...args: never[]) => Promise<infer Answer>
    ? (answers: Answer[]) => Answer
    : never;
};

/** Gives a class the methods of a table. Each asks the same of all parts; the answer of the only one is left as it is. */
export function askAll<Plain extends object>(
  over: { readonly prototype: Plain },
  merges: Merges<Plain>,
): void {
  for (const [name, merge] of Object.entries(merges) as [string, (answers: unknown[]) => unknown][]) {
    defineMethod(over, name, async (plain, object, args) => {
      const { parts = [object] } = object;
      const answers = await Promise.all(parts.map((part) => plain.apply(part, args)));
      return answers.length === 1 ? answers[0] : merge(answers);
    });
  }
}

/** Gives a class methods that ask one part: the one that `find` answers for their first argument. */
export function askOne<Plain extends object>(
  over: { readonly prototype: Plain },
  names: readonly (keyof Plain & string)[],
  find: (object: never, first: string) => unknown,
): void {
  for (const name of names) {
    defineMethod(over, name, async (plain, object, args) =>
      plain.apply(await find(object as never, args[0] as string), args),
    );
  }
}

/** The parts are of the class that is extended: they answer with its method, which `over` has inherited. */
function defineMethod(
  over: { readonly prototype: object },
  name: string,
  ask: (plain: Method, object: OverParts, args: unknown[]) => Promise<unknown>,
): void {
  const plain = Reflect.get(over.prototype, name) as Method;
  Object.defineProperty(over.prototype, name, {
    value(this: OverParts, ...args: unknown[]) {
      return ask(plain, this, args);
    },
    writable: true,
    configurable: true,
  });
}
