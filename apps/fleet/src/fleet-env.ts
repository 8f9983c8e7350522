import { ALWAYS, checkStoreVariables, fields } from '#runtime';
import { z } from 'zod';

/** What the launcher itself reads; every app it starts reads its own. */
export const FleetEnv = z
  .object({
    PORT: fields.port
      .prefault('3000')
      .describe('Where the api will listen; also names the folder of a private store.'),
    HOST: z.string().min(1).default('127.0.0.1').describe('The address on which the api will listen.'),
    WORKERS: fields.wholeNumber(1).prefault('2').describe('How many workers `npm start` starts.'),
    ...fields.StoreEnv,
    ...fields.ShutdownEnv,
  })
  .superRefine(checkStoreVariables, { when: ALWAYS });
