import { owner, type Owner } from '#core';
import { InvalidEventError, type CloudEvent } from './cloud-event.js';
import { checkTemplate, fillTemplate } from './owner-template.js';

/** Maps an event type to the owner that it cancels. */
export interface EventRule {
  readonly type: string;
  /** A template such as `trip:{subject}` or, in code, a function. If it returns undefined the event is ignored. */
  readonly owner: string | ((event: CloudEvent) => Owner | undefined);
  /** Whether new jobs are refused until the owner is reopened. Default true. */
  readonly close?: boolean;
}

/** The owner that an event cancels. */
export interface EventTarget {
  readonly owner: Owner;
  readonly close: boolean;
}

const KNOWN_FIELDS = ['type', 'owner', 'close'];

/** The mapping is invalid. The message lists every problem on its own line. */
export class EventMappingError extends TypeError {
  constructor(readonly problems: readonly string[]) {
    super(`The event mapping has ${problems.length} problem(s):\n  ${problems.join('\n  ')}`);
    this.name = 'EventMappingError';
  }
}

/** Maps event types to the owners that they cancel. The constructor validates all rules. */
export class EventMapping {
  private readonly rules: ReadonlyMap<string, EventRule>;

  constructor(rules: readonly EventRule[]) {
    const problems = problemsOf(rules);
    if (problems.length > 0) throw new EventMappingError(problems);
    this.rules = new Map(rules.map((rule) => [rule.type, rule]));
  }

  /** Returns undefined for a type without a rule. Throws if the event lacks a field that its rule needs. */
  find(event: CloudEvent): EventTarget | undefined {
    const rule = this.rules.get(event.type);
    if (!rule) return undefined;
    const found = typeof rule.owner === 'function' ? rule.owner(event) : ownerOf(event, rule.owner);
    return found && { owner: found, close: rule.close ?? true };
  }
}

function ownerOf(event: CloudEvent, template: string): Owner {
  const { type, id } = fillTemplate(template, event);
  try {
    return owner(type, id);
  } catch (error) {
    throw new InvalidEventError([(error as Error).message.replace(/\.$/, '')]);
  }
}

/** Every problem of a list of rules, prefixed with the number of the rule. */
export function problemsOf(rules: unknown): string[] {
  if (!Array.isArray(rules))
    return ['expected a list of rules, as in [{"type":"…","owner":"trip:{subject}"}]'];
  const seen = new Set<unknown>();
  return rules.flatMap((rule: unknown, index) => {
    const problems = problemsOfRule(rule);
    const type = (rule as { type?: unknown } | null)?.type;
    if (seen.has(type)) problems.push(`type ${JSON.stringify(type)} is already mapped`);
    if (type !== undefined) seen.add(type);
    return problems.map((problem) => `rule ${index + 1}: ${problem}`);
  });
}

function problemsOfRule(rule: unknown): string[] {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return ['expected an object'];
  const { type, owner: template, close } = rule as Record<string, unknown>;
  const problems = Object.keys(rule)
    .filter((name) => !KNOWN_FIELDS.includes(name))
    .map((name) => `${JSON.stringify(name)} is unknown; expected ${KNOWN_FIELDS.join(', ')}`);
  if (typeof type !== 'string' || type === '') problems.push('type must be the type of an event');
  if (close !== undefined && typeof close !== 'boolean') problems.push('close must be true or false');
  if (typeof template === 'string') problems.push(...checkTemplate(template));
  else if (typeof template !== 'function')
    problems.push('owner must be written type:id, as in trip:{subject}');
  return problems;
}
