import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, it } from 'vitest';
import { createApp, type Options, privateOptions } from './stacks/synthesize.ts';

const outdir = mkdtempSync(join(tmpdir(), 'busdriver-nag-'));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0123';
const domain = { domainName: 'clouddriver.example.com', certificateArn };

const installations: { readonly [name: string]: Options } = {
  'a private API': { ...privateOptions, ...domain },
  'a private API with an endpoint of its own': {
    vpcId: privateOptions.vpcId,
    subnetIds: privateOptions.subnetIds,
    clientCidrs: '10.20.0.0/16',
    authentication: 'secret',
  },
  'a private API that reads a registry of ECR': {
    ...privateOptions,
    repositoryArnPrefixes: 'arn:aws:ecr:us-east-1:123456789012:repository/',
  },
  'a private API, and agents with mutual TLS': {
    ...privateOptions,
    ...domain,
    agents: true,
    agentsDomainName: 'agents.example.com',
    agentsCertificateArn: certificateArn,
    agentsTrustStore: 's3://trust/agents.pem',
  },
  'a public API with mutual TLS': { publicApi: true, truststoreUri: 's3://trust/store.pem', ...domain },
  'a public API with a shared secret': {
    publicApi: true,
    authorizerSecretArn: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker-AbCdEf',
    ...domain,
  },
};

describe('AWS Solutions', () => {
  it.each(Object.keys(installations))('has nothing to say against %s', (name) => {
    const app = createApp(installations[name] ?? {}, join(outdir, name));
    app.synth();

    const { violations } = new AwsSolutionsChecks(app).validateScope(app);

    const found = violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
    );
    expect(found).toEqual([]);
  });
});
