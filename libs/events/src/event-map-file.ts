import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { EventMapping, problemsOf, type EventRule } from './event-mapping.js';

/** Reads the mapping from a JSON file and reports every problem. Use it as a zod `transform`. */
export function readEventMap(path: string, context: z.core.$RefinementCtx): EventMapping {
  const { rules, problems } = readRules(path);
  for (const problem of problems) context.addIssue({ code: 'custom', message: `${path}: ${problem}` });
  return new EventMapping(problems.length > 0 ? [] : rules);
}

function readRules(path: string): { rules: EventRule[]; problems: string[] } {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { rules: [], problems: [`cannot be read (${(error as NodeJS.ErrnoException).code})`] };
  }
  try {
    const rules = JSON.parse(text) as EventRule[];
    return { rules, problems: problemsOf(rules) };
  } catch (error) {
    return { rules: [], problems: [`is not JSON (${(error as Error).message})`] };
  }
}
