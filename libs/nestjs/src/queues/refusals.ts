import { MooringSetupError } from '../setup-error.js';

export function settledTwice(queue: string): MooringSetupError {
  return new MooringSetupError(
    `MooringModule.forQueue('${queue}') is called twice in this application. Keep one call, with all options of the queue.`,
  );
}

export function unknownQueue(queue: string): MooringSetupError {
  return new MooringSetupError(
    `MooringModule.forQueue('${queue}') names a queue that no module registers. ` +
      `Add BullModule.registerQueue({ name: '${queue}' }), or correct the name.`,
  );
}

export function notMoored(queue: string): MooringSetupError {
  return new MooringSetupError(
    `Queue "${queue}" was registered before '@mooring/nestjs/register' was imported, so its jobs can have no owners. ` +
      `Make import '@mooring/nestjs/register' the first line of main.ts.`,
  );
}

/** A cancel would answer that the owner has no jobs. */
export function otherPrefix(queue: string, prefix: string, ofOwners: string): MooringSetupError {
  return new MooringSetupError(
    `Queue "${queue}" has the prefix "${prefix}" and MooringModule.forRoot has "${ofOwners}", so a cancel would not find its jobs. ` +
      'Give both the same prefix.',
  );
}
