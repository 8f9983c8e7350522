/**
 * The size of a long proof, from the environment, as in `PROPERTY_RUNS=3000` and `MUTANTS=all`; undefined by default.
 */
export function askedFor(name: string): string | undefined {
  return process.env[name] || undefined;
}

export function numberAskedFor(name: string, otherwise: number): number {
  const asked = askedFor(name);
  if (asked === undefined) return otherwise;
  if (!(Number(asked) > 0)) throw new TypeError(`${name}=${asked} is no number above 0.`);
  return Number(asked);
}
