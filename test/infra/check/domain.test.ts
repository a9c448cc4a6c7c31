import { describe, expect, it } from 'vitest';
import { covers, judgeCertificate, judgeDomain, judgeZones } from '../../../infra/check/domain.ts';
import { recorded } from './recorded-answers.ts';
import { makeSubject } from './subjects.ts';

const { domainName } = recorded;
const now = new Date('2026-06-01T00:00:00Z');
const inDays = (days: number) => new Date(now.getTime() + days * 24 * 3600 * 1000);

describe('covers', () => {
  it.each([
    { name: 'clouddriver.example.com', isFor: true },
    { name: '*.example.com', isFor: true },
    { name: 'example.com', isFor: false },
    { name: '*.clouddriver.example.com', isFor: false },
    { name: '*.com', isFor: false },
    { name: '*.other.com', isFor: false },
  ])('$name: $isFor', ({ name, isFor }) => {
    expect(covers(name, domainName)).toBe(isFor);
  });
});

describe('judgeCertificate', () => {
  const facts = { status: 'ISSUED', names: [domainName], notAfter: inDays(90), isRenewed: false };

  it.each([
    { change: {}, states: ['ok', 'ok'] },
    { change: { status: 'PENDING_VALIDATION' }, states: ['mend'] },
    { change: { status: 'EXPIRED' }, states: ['mend'] },
    { change: { names: ['other.example.com'] }, states: ['mend', 'ok'] },
    { change: { notAfter: inDays(29) }, states: ['ok', 'mend'] },
    { change: { notAfter: inDays(29), isRenewed: true }, states: ['ok', 'ok'] },
  ])('$change: $states', ({ change, states }) => {
    const findings = judgeCertificate({ ...facts, ...change }, { domainName, now });
    expect(findings.map(({ state }) => state)).toEqual(states);
  });

  it('asks for one where there is none', () => {
    const [finding] = judgeCertificate(undefined, { domainName, now });
    expect(finding?.next).toContain(`aws acm request-certificate --domain-name ${domainName}`);
  });
});

describe('judgeDomain', () => {
  const taken = [{ name: domainName, types: ['PRIVATE'] }];

  const installed = { 'busdriver-prod-api': { status: 'UPDATE_COMPLETE', reason: undefined } };
  it.each([
    ['a free name', [], {}, 'ok'],
    ['a name of another type', [{ name: domainName, types: ['REGIONAL'] }], {}, 'ok'],
    ['a name that is taken', taken, {}, 'mend'],
    ['our own name', taken, installed, 'ok'],
  ])('%s', (...[, domains, stacks, state]) => {
    expect(judgeDomain(domains, domainName, makeSubject({ installed: stacks })).state).toBe(state);
  });
});

describe('judgeZones', () => {
  it('takes the private zone that is nearest to the name', () => {
    const zones = [
      { name: 'example.com', isPrivate: true },
      { name: domainName, isPrivate: true },
      { name: `a.${domainName}`, isPrivate: true },
    ];
    expect(judgeZones(zones, domainName, makeSubject()).found).toBe(
      `the private zone ${domainName} of ${recorded.vpcId}`,
    );
  });

  it.each([[{ name: 'example.com', isPrivate: false }], [{ name: 'ple.com', isPrivate: true }]])(
    'takes no zone such as %j',
    (zone) => {
      expect(judgeZones([zone], domainName, makeSubject()).found).toContain('no private zone');
    },
  );
});
