import { unescapeText } from './escape.js';

/** What a job carries of its owners. `mark.lua` has the same format for the scripts. */
export interface Mark {
  readonly owners: readonly { readonly name: string; readonly epoch: string }[];
  /** ms, or '' for a job that may start at any time. */
  readonly startBy: string;
  readonly key: string;
  readonly limit: string;
  readonly slot: string;
}

export function readMark(text: string): Mark {
  const [epoch = '', name = '', startBy = '', key = '', limit = '', slot = '', ...further] = text.split('|');
  const owners = [{ name, epoch }];
  for (let i = 0; i < further.length; i += 2) owners.push({ epoch: further[i]!, name: further[i + 1]! });
  return { owners, startBy, key, limit, slot };
}

/** The owners of a marked job, as callers write them. */
export function ownersOfMark(text: string): string[] {
  return readMark(text).owners.map(({ name }) => unescapeText(name));
}
