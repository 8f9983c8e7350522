import type { Argument } from '../scripts/redis-client.js';

export type { Argument };

/** What jobs of a step have in common. It is sent once for all of them. */
export class Template {
  readonly key: string;

  constructor(readonly parts: readonly string[]) {
    this.key = parts.join('\0');
  }
}

/** One job of a step. */
export interface StepItem {
  readonly template: Template;
  readonly own: readonly Argument[];
}

/** The arguments of a step: its own, the templates, and the jobs, each behind the number of its template. */
export function stepArguments(head: readonly Argument[], items: readonly StepItem[]): Argument[] {
  const numbers = new Map<string, number>();
  const templates: string[] = [];
  const jobs: Argument[] = [];
  for (const { template, own } of items) {
    let number = numbers.get(template.key);
    if (number === undefined) {
      number = numbers.size + 1;
      numbers.set(template.key, number);
      templates.push(...template.parts);
    }
    jobs.push(number, ...own);
  }
  return [...head, numbers.size, ...templates, ...jobs];
}
