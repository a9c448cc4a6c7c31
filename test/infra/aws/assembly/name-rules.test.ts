import { expect, test } from 'vitest';
import { synthesize } from '../stacks/synthesize.ts';
import { findLongNames } from './name-rules.ts';

test('names that are too long are found', () => {
  const name = 't'.repeat(256);
  const table = { Type: 'AWS::DynamoDB::Table', Properties: { TableName: name } };
  const broken = new Map([['data', { toJSON: () => ({ Resources: { table } }) }]]);
  expect(findLongNames(broken)).toEqual([`data: the name of ${name} has 256 characters, and may have 255`]);
});

test('names are found where templates have them', () => {
  const names = JSON.stringify([...synthesize().values()].map((template) => template.toJSON()));
  for (const property of ['FunctionName', 'QueueName', 'TableName', 'ArchiveName', 'AlarmName']) {
    expect(names).toMatch(new RegExp(`"${property}":"`));
  }
});
