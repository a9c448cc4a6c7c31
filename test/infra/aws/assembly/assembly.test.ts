import { describe, expect, it } from 'vitest';
import { chooseSize } from '#test/support/run/test-size.ts';
import { synthesize } from '../stacks/synthesize.ts';
import {
  findBlindAlarms,
  findRepeatedRuns,
  findUnwatchedQueues,
  findUnwatchedSchedules,
} from './alarm-rules.ts';
import type { Assembly } from './assembly-rules.ts';
import { findExportLocks, findLargePolicies, findLargeTemplates, findLostData } from './assembly-rules.ts';
import { findOpenDoors } from './door-rules.ts';
import { findLongNames } from './name-rules.ts';
import { getOptions, listChanged, optionSets, singleChanges } from './option-sets.ts';

const looked = [...optionSets, ...chooseSize({ short: [], long: singleChanges })];

function getAssembly(name: string): Assembly {
  return synthesize(getOptions(name));
}

it('each option that operators change is changed', () => {
  const { alone, always } = listChanged();
  expect(alone.filter((option) => !always.has(option))).toEqual([]);
  expect(always.size).toBeGreaterThan(30);
});

describe.each(looked.map(({ name, from }) => ({ name, from })))('$name', ({ name, from }) => {
  it('stays within what AWS takes', () => {
    const assembly = getAssembly(name);
    const large = [...findLargePolicies(assembly), ...findLargeTemplates(assembly)];
    expect([...large, ...findLongNames(assembly)]).toEqual([]);
  });

  it('looks at metrics that there are, and notices what is silent', () => {
    const assembly = getAssembly(name);
    const unwatched = [...findUnwatchedSchedules(assembly), ...findUnwatchedQueues(assembly)];
    expect([...findBlindAlarms(assembly), ...unwatched]).toEqual([]);
  });

  it('starts nothing again that a rule has started', () => {
    expect(findRepeatedRuns(getAssembly(name))).toEqual([]);
  });

  it('lets no stranger call', () => {
    expect(findOpenDoors(getAssembly(name))).toEqual([]);
  });

  it.skipIf(from === undefined)('can be deployed in the place of what was there, and back', () => {
    const before = getAssembly(from ?? '');
    const after = getAssembly(name);
    expect(findExportLocks(before, after)).toEqual([]);
    expect(findExportLocks(after, before)).toEqual([]);
  });

  it.skipIf(from === undefined)('keeps what holds data, there and back', () => {
    const before = getAssembly(from ?? '');
    const after = getAssembly(name);
    expect(findLostData(before, after)).toEqual([]);
    expect(findLostData(after, before)).toEqual([]);
  });
});

describe('templates of an earlier release', () => {
  /** What its stacks import. CloudFormation refuses to take it away before these stacks themselves are deployed anew. */
  const imported = [
    'bus:ExportsOutputFnGetAttBusEA82B648ArnBC65BB77',
    'bus:ExportsOutputRefBusEA82B6486A28F94F',
    'caching:ExportsOutputFnGetAttagentsqueueQueue496518A6Arn4CBAA77C',
    'caching:ExportsOutputFnGetAttagentstreamsqueueQueue0E1098CDArn43AC47C7',
    'caching:ExportsOutputRefagentsqueueQueue496518A6BFE64D8F',
    'caching:ExportsOutputRefagentstreamsqueueQueue0E1098CD88C98E7A',
    'data:ExportsOutputFnGetAttKey961B73FDArn5A860C43',
    'data:ExportsOutputFnGetAttcachetable93624489ArnA4AE258D',
    'data:ExportsOutputFnGetAtttaskstable17452859Arn36D16907',
    'data:ExportsOutputRefArtifacts82DD59A14F4A635A',
    'data:ExportsOutputRefConfig57D1D8948A167C64',
    'data:ExportsOutputRefcachetable936244891046EC5A',
    'data:ExportsOutputReftaskstable17452859F370EFFD',
    'network:ExportsOutputFnGetAttFunctions1094A112GroupIdD6A6ECE1',
    'network:ExportsOutputRefEndpointEEF1FD8FA099C36A',
    'operations:ExportsOutputFnGetAttoperationsqueueQueue35A9251CArnA37A46D0',
    'operations:ExportsOutputRefoperationsqueueQueue35A9251C2BC9481A',
  ];

  it('can be replaced: what they import is still there', () => {
    const text = JSON.stringify(
      [...getAssembly('private, endpoint made').values()].map((one) => one.toJSON()),
    );
    expect(imported.filter((name) => !text.includes(`"busdriver-dev-${name}"`))).toEqual([]);
  });

  it('are the last that import anything', () => {
    for (const { name } of looked)
      expect(JSON.stringify([...getAssembly(name).values()].map((one) => one.toJSON()))).not.toContain(
        'Fn::ImportValue',
      );
  });
});
