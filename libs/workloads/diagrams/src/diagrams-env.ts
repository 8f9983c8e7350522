import { fields } from '#workload-kit';
import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';

const CHROMIUM = z
  .string()
  .refine((text) => text === 'off' || isThere(text, constants.X_OK), 'expected the path of a program, or off')
  .optional()
  .describe(
    'The browser that Mermaid is drawn in. Unset: the one that is found here; `off`: none. The same for api and workers.',
  );

const DIAGRAM_HEAVY = fields
  .wholeNumber(1)
  .prefault('4')
  .describe(
    'How many diagrams of the heavy types are drawn at once, over the whole fleet. The same for api and janitors.',
  );

export const all = {
  DIAGRAM_BACKLOG: fields
    .wholeNumber(1)
    .prefault('500')
    .describe(
      'How many diagrams may wait to be drawn, where that is fewer than `MAX_WAITING`. The same for all processes.',
    ),
};

export const api = {
  CHROMIUM,
  DIAGRAM_HEAVY,
  DIAGRAM_WAIT: fields.duration
    .prefault('10s')
    .describe('How long a caller waits for a picture that is asked for in one call.'),
};

export const worker = {
  CHROMIUM,
  FONTS: z
    .string()
    .refine(
      (path) => isThere(path, constants.R_OK) && statSync(path).isDirectory(),
      'expected the path of a folder that can be read',
    )
    .optional()
    .describe(
      'A folder of TrueType or OpenType fonts for the letters of a PNG that DejaVu lacks, as Chinese ones. Unset: these are empty boxes. The same for all workers.',
    ),
};

export const janitor = { DIAGRAM_HEAVY };

function isThere(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return isAbsolute(path);
  } catch {
    return false;
  }
}
