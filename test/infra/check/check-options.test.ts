import { describe, expect, it } from 'vitest';
import { CheckUsageError, formatCheckHelp, parseCheckOptions } from '../../../infra/check/check-options.ts';
import { readContextFiles } from '../../../infra/check/context-files.ts';
import { formatReport } from '../../../infra/check/report.ts';

describe('parseCheckOptions', () => {
  it('takes options of the stacks as cdk does', () => {
    const { context, profile, json } = parseCheckOptions([
      ...['-c', 'stage=prod', '--context', 'concurrency=operations=5', '-c', 'stage=late'],
      ...['--profile', 'production', '--json'],
    ]);
    expect(context).toEqual({ stage: 'late', concurrency: 'operations=5' });
    expect({ profile, json }).toEqual({ profile: 'production', json: true });
  });

  it.each([[['-c', '=x']], [['-c', 'stage']], [['--all']], [['busdriver-prod-api']], [['--region']]])(
    'refuses %j',
    (args) => {
      expect(() => parseCheckOptions(args)).toThrow(CheckUsageError);
    },
  );

  it('has a line of help for each option', () => {
    for (const option of [
      '--context',
      '--profile',
      '--region',
      '--read-secrets',
      '--json',
      '--print-policy',
      '--help',
    ]) {
      expect(formatCheckHelp()).toMatch(new RegExp(`^ {2}(-\\w, )?${option} `, 'm'));
    }
  });
});

it('what stands in cdk.json counts, and the command line wins', () => {
  const context = readContextFiles({ stage: 'prod', '@aws-cdk/core:defaultCrossStackReferences': 'other' });
  expect(context).toMatchObject({
    stage: 'prod',
    '@aws-cdk/aws-iam:minimizePolicies': true,
    '@aws-cdk/core:defaultCrossStackReferences': 'other',
  });
});

it('a report keeps what AWS says to one line, without what a terminal obeys', () => {
  const found = 'two\nlines \u001b[31mred';
  const report = formatReport([{ matter: 'a', what: 'b', state: 'mend', found, next: 'c' }]);
  expect(report).toContain('two lines  [31mred');
  expect(report).toContain('→ c');
});
