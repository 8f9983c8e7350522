import { AsyncLocalStorage } from 'node:async_hooks';

/** Fields added to every log line of a request or run: its ids. */
export type LogFields = Readonly<Record<string, unknown>>;

const storage = new AsyncLocalStorage<LogFields>();

export const logContext = {
  run<T>(fields: LogFields, work: () => T): T {
    return storage.run({ ...storage.getStore(), ...fields }, work);
  },

  // A copy: pino merges a line's own fields into the object it is given, and they would stay for the next line.
  fields(): Record<string, unknown> {
    return { ...storage.getStore() };
  },
};
