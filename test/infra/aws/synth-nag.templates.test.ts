import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, it } from 'vitest';
import { getOptions } from './assembly/option-sets.ts';
import { createApp } from './stacks/synthesize.ts';

const outdir = mkdtempSync(join(tmpdir(), 'busdriver-nag-'));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

/** Together they have every option. */
const sets = [
  'private, endpoint of the operator: all that the operator may name',
  'private, endpoint of the operator: clusters, roles, secrets and images by prefix, not protected',
  'private, endpoint made: clients with IPv6, and an endpoint of another account',
  'private, with agents: all of agents',
  'public, mutual TLS, in a VPC: a secret beside it, another bundle',
];

describe("CDK's own rules and AWS Solutions", () => {
  it.each(sets.map((set, index) => ({ set, index })))(
    'have nothing to say against $set',
    ({ set, index }) => {
      const app = createApp(getOptions(set), join(outdir, String(index)));
      // What breaks CDK's rules is not synthesized.
      app.synth();

      const { violations } = new AwsSolutionsChecks(app).validateScope(app);

      const found = violations.flatMap(({ ruleName, violatingResources }) =>
        violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
      );
      expect(found).toEqual([]);
    },
  );
});
