import { MooringModule } from '#nestjs';
import { Module, type DynamicModule } from '@nestjs/common';
import { z } from 'zod';
import type { Process, ReconcilerTask, SweepTask, WorkloadOptions } from './define-workload.js';

/** A workload as the apps see it. `settings` are what an app has read of its environment with `variablesOf`. */
export class Workload {
  readonly name: string;
  readonly reconciled: ReconcilerTask | undefined;
  /** The environment variable that leaves it out; undefined if it is always there. */
  private readonly switch: string | undefined;

  constructor(private readonly options: WorkloadOptions) {
    const { name, offers, reconciled } = options;
    this.name = name;
    this.reconciled = reconciled;
    if (offers !== undefined) this.switch = name.toUpperCase().replaceAll('-', '_');
  }

  variablesOf(process: Process): z.ZodRawShape {
    const { variables = {} } = this.options;
    const switches = this.switch === undefined ? {} : { [this.switch]: this.switchOf(process) };
    return { ...switches, ...variables.all, ...variables[process] };
  }

  /** @param isTrial false for an api that has keys or listens beyond loopback */
  isOn(settings: object, isTrial = true): boolean {
    if (this.switch === undefined) return true;
    const value = (settings as Record<string, unknown>)[this.switch];
    return value === undefined ? isTrial : value === 'on';
  }

  async moduleFor(process: Process, settings: object, hasDemos = false): Promise<DynamicModule> {
    const { kinds, providers = [], [process]: partsOf } = this.options;
    const parts = (await partsOf?.(settings as never)) ?? {};
    const demos = hasDemos ? parts.demos : undefined;
    return {
      module: moduleNamed(this.name),
      imports: [MooringModule.forKinds(kinds)],
      controllers: [...(parts.controllers ?? []), ...(demos ?? [])],
      providers: [...providers, ...(parts.providers ?? [])],
    };
  }

  maxWaitingIn(settings: object): Readonly<Record<string, number>> {
    return this.options.maxWaitingIn?.(settings as never) ?? {};
  }

  sweptIn(settings: object): SweepTask | undefined {
    return this.options.swept?.(settings as never);
  }

  private switchOf(process: Process): z.ZodType {
    const { offers, isForTrial } = this.options;
    const choice = z.enum(['on', 'off']);
    return isForTrial && process === 'api'
      ? choice.optional().describe(`${offers} Unset: only without keys on loopback.`)
      : choice.default('on').describe(`${offers} The same for all processes.`);
  }
}

/** Nest shows the name of the class in its error messages. */
function moduleNamed(name: string): new () => object {
  const module = class {};
  Object.defineProperty(module, 'name', { value: `Workload:${name}` });
  Module({})(module);
  return module;
}
