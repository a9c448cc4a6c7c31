import { describe, expect, it } from 'vitest';
import { synthesize } from '../stacks/synthesize.ts';
import {
  type Assembly,
  findExportLocks,
  findLargePolicies,
  findLargeTemplates,
  findLostData,
} from './assembly-rules.ts';
import { optionSets } from './option-sets.ts';

const assemblies = new Map<string, Assembly>();

function getAssembly(name: string): Assembly {
  const found = assemblies.get(name);
  if (found !== undefined) return found;
  const set = optionSets.find((one) => one.name === name);
  if (set === undefined) throw new Error(`no set of options '${name}'`);
  const made = synthesize(set.options);
  assemblies.set(name, made);
  return made;
}

describe.each(optionSets.map(({ name, from }) => ({ name, from })))('$name', ({ name, from }) => {
  it('stays within what AWS takes', () => {
    const assembly = getAssembly(name);

    expect([...findLargePolicies(assembly), ...findLargeTemplates(assembly)]).toEqual([]);
  });

  it.skipIf(from === undefined)('can be deployed in the place of what was there, and back', () => {
    const before = getAssembly(from ?? '');
    const after = getAssembly(name);

    expect(findExportLocks(before, after)).toEqual([]);
    expect(findExportLocks(after, before)).toEqual([]);
  });

  it.skipIf(from === undefined)('keeps what holds data', () => {
    expect(findLostData(getAssembly(from ?? ''), getAssembly(name))).toEqual([]);
  });
});
