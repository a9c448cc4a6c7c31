import { expect, it } from 'vitest';
import { readContextFiles } from '#infra/tools/deploy-check/context-files.ts';
import { formatReport } from '#infra/tools/deploy-check/report.ts';

it('a report keeps what AWS says to one line, without what a terminal obeys', () => {
  const found = 'two\nlines \u001b[31mred';
  const report = formatReport([{ matter: 'a', what: 'b', state: 'mend', found, next: 'c' }]);
  expect(report).toContain('two lines  [31mred');
  expect(report).toContain('→ c');
});

it('the report is on what cdk.json says, and the command line wins', () => {
  const context = readContextFiles({ stage: 'prod', '@aws-cdk/core:defaultCrossStackReferences': 'other' });
  expect(context).toMatchObject({
    stage: 'prod',
    '@aws-cdk/aws-iam:minimizePolicies': true,
    '@aws-cdk/core:defaultCrossStackReferences': 'other',
  });
});
