import { parseOwner } from '#core';
import { InvalidEventError, type CloudEvent } from './cloud-event.js';

/** Placeholder for a field of the event. */
const PLACEHOLDER = /\{([^{}]*)\}/g;
const FIELD = /^(subject|source|id|data(\.[^.\s]+)+)$/;

/** Every problem of an owner template such as `trip:{subject}`. */
export function checkTemplate(template: string): string[] {
  const unknown = [...template.matchAll(PLACEHOLDER)]
    .filter(([, name = '']) => !FIELD.test(name))
    .map(([text]) => `${text} is unknown; expected {subject}, {source}, {id} and {data.…}`);
  const problems = [...unknown];
  const withoutFields = template.replaceAll(PLACEHOLDER, 'x');
  if (/[{}]/.test(withoutFields)) problems.push(`owner ${JSON.stringify(template)} has an unpaired brace`);
  try {
    // An event must not choose the type of the owner.
    if (/[{}]/.test(template.split(':')[0]!))
      throw new TypeError(`The type in "${template}" must be a word.`);
    parseOwner(withoutFields);
  } catch (error) {
    problems.push(`owner: ${(error as Error).message}`);
  }
  return problems;
}

/** Fills in a template. Throws if the event lacks a field of it. */
export function fillTemplate(template: string, event: CloudEvent): { type: string; id: string } {
  const colon = template.indexOf(':');
  const problems: string[] = [];
  const id = template.slice(colon + 1).replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = fieldOf(event, name);
    const text = textOf(value);
    if (value === undefined || value === null)
      problems.push(`${name} is missing, but the owner template needs it`);
    else if (text === undefined) problems.push(`${name} is neither a text nor a whole number`);
    return text ?? '';
  });
  if (problems.length > 0) throw new InvalidEventError(problems);
  return { type: template.slice(0, colon), id };
}

function fieldOf(event: CloudEvent, name: string): unknown {
  return name.split('.').reduce<unknown>(
    // Own properties only, so that inherited ones cannot name an owner.
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    event,
  );
}

/** Unsafe integers are rejected, because parsing has changed them. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
