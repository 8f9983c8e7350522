import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';

/** Environment of a process that draws diagrams or names their renderers. */
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
