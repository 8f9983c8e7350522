import { z } from 'zod';
import { readArtifactsUrl, type ArtifactsAddress } from './address.js';

/** What a process reads from its environment that opens the artifacts. */
export const ArtifactsEnv = {
  ARTIFACTS_URL: z
    .string()
    .transform(readUrl)
    .prefault('file:.mooring/artifacts')
    .meta({ form: 'url' })
    .describe(
      'Where artifacts are kept: `file:folder`, which all processes must see, or `s3://key:secret@host:port/bucket?region=…&tls=off`.',
    ),
  AWS_ACCESS_KEY_ID: z.string().min(1).optional().describe('For an `s3:` URL that names no key.'),
  AWS_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('The secret to it.'),
  AWS_SESSION_TOKEN: z.string().min(1).optional().describe('Of a temporary key.'),
};

export type ArtifactsEnv = { [K in keyof typeof ArtifactsEnv]: z.output<(typeof ArtifactsEnv)[K]> };

/** Its message never repeats what was given: that may hold a secret. */
function readUrl(text: string, context: z.core.$RefinementCtx): ArtifactsAddress {
  try {
    return readArtifactsUrl(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
}
