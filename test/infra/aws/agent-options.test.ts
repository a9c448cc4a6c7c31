import { RootConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { readContext } from '#infra/aws/context/context-options.ts';
import { type Options, privateOptions } from './stacks/synthesize.ts';

const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0123';
const named = { agentsDomainName: 'agents.example.com', agentsCertificateArn: certificateArn };

function read(options: Options) {
  const construct = new RootConstruct();
  for (const [name, value] of Object.entries({ ...privateOptions, ...options }))
    construct.node.setContext(name, value);
  return readContext(construct);
}

describe('options of agents', () => {
  it('are accepted together', () => {
    const agentsTrustStore = 's3://trust/agents.pem?versionId=7';
    const given = { ...named, agents: true, agentsTrustStore };
    expect(read(given)).toMatchObject(given);
    expect(read({}).agents).toBe(false);
  });

  const agents = true;
  const { agentsDomainName, agentsCertificateArn } = named;
  const ofSpinnaker = { domainName: agentsDomainName, certificateArn };
  const unversioned = 's3://trust/a.pem?version=7';
  it.each<[what: string, options: Options, problem: string]>([
    ['a name without agents', named, 'agentsDomainName, agentsCertificateArn, agentsTrustStore: '],
    ['a name without a certificate', { agents, agentsDomainName }, 'agentsCertificateArn: '],
    ['a certificate without a name', { agents, agentsCertificateArn }, 'agentsDomainName: '],
    ['mutual TLS without a name', { agents, agentsTrustStore: 's3://trust/a.pem' }, 'agentsDomainName: '],
    [
      'the name of Spinnaker',
      { ...named, agents, ...ofSpinnaker },
      'agentsDomainName: expected another name',
    ],
    [
      'a trust store that is none',
      { ...named, agents, agentsTrustStore: unversioned },
      'agentsTrustStore: expected s3://',
    ],
  ])('are refused with %s', (_what, options, problem) => {
    expect(() => read(options)).toThrow(problem);
  });
});
