import { describe, expect, it } from 'vitest';
import { takeHelpersOut } from './helper-functions.js';

const TEXT = `
local rcall = redis.call
local jobId, prefix = ARGV[1], ARGV[2]
local function trim(key, jobId)
  -- prefix is said here, and in a text, and as a field
  return rcall("ZREM", key, "prefix", jobId, key.prefix)
end
local addAll = function (list)
  for _, prefix in ipairs(list) do
    trim(prefix, 1)
  end
end
local function keyOf(name)
  return prefix .. name
end
local function remove(name)
  return trim(keyOf(name), 1)
end
local function first()
  return KEYS[1]
end
return remove(jobId)
`;

describe('helper functions of BullMQ', () => {
  const { helpers, main } = takeHelpersOut(TEXT);

  it('are taken out if they use nothing of one call', () => {
    expect(namesOf(helpers)).toEqual(['trim', 'addAll']);
  });

  it('stay if they use a variable of the text, its keys, or a function that stays', () => {
    expect(namesOf(main)).toEqual(['keyOf', 'remove', 'first']);
  });

  it('leave the rest of the text as it is', () => {
    expect(main).toContain('local jobId, prefix = ARGV[1], ARGV[2]');
    expect(main).toContain('return remove(jobId)');
  });
});

function namesOf(lua: string): string[] {
  return [...lua.matchAll(/^local (?:function (\w+)|(\w+) = function)/gm)].map(
    ([, name, other]) => name ?? other!,
  );
}
