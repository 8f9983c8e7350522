import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';

/** What a process reads from its environment that draws diagrams, or says how they are drawn. */
export const ChromiumEnv = {
  CHROMIUM: z
    .string()
    .refine((text) => text === 'off' || isProgram(text), 'expected the path of a program, or off')
    .optional()
    .describe(
      'The browser that Mermaid is drawn in. Unset: the one that is found here; `off`: none. The same for api and workers.',
    ),
};

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isAbsolute(path);
  } catch {
    return false;
  }
}
