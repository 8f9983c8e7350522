/** Stands in place of a field that is never shown. */
export const HIDDEN = '[hidden]';

/** A payload as it may be shown. @param fields as in `card` or `payment.card`; each element of a list has them */
export function conceal(payload: unknown, fields: readonly string[]): unknown {
  return fields.reduce((shown, field) => concealAt(shown, field.split('.')), payload);
}

function concealAt(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => concealAt(each, [name, ...rest]));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value;
  const field = (value as Record<string, unknown>)[name];
  return { ...value, [name]: rest.length === 0 ? HIDDEN : concealAt(field, rest) };
}
