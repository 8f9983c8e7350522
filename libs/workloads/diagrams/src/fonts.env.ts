import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';

/** Environment of a worker that draws PNGs. */
export const FontsEnv = {
  FONTS: z
    .string()
    .refine(isFolder, 'expected the path of a folder that can be read')
    .optional()
    .describe(
      'A folder of TrueType or OpenType fonts for the letters of a PNG that DejaVu lacks, as Chinese ones. Unset: these are empty boxes. The same for all workers.',
    ),
};

function isFolder(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return isAbsolute(path) && statSync(path).isDirectory();
  } catch {
    return false;
  }
}
