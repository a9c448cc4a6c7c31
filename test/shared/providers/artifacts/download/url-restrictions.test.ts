import { describe, expect, test } from 'vitest';
import { parseUrlRestrictions } from '#providers/artifacts/download/url-restrictions.ts';

describe('parseUrlRestrictions', () => {
  test('has the defaults of Spinnaker, and refuses private addresses on top', () => {
    const restrictions = parseUrlRestrictions({}, 'account a');

    expect(restrictions).toMatchObject({
      allowedSchemes: ['http', 'https'],
      allowedDomains: [],
      rejectLocalhost: true,
      rejectLinkLocal: true,
      rejectVerbatimIps: true,
      rejectPrivateIps: true,
      rejectedIps: [],
      allowedIps: [],
    });
    expect(restrictions.allowedHostnames?.test('example.com')).toBe(true);
    expect(restrictions.allowedHostnames?.test('orca')).toBe(false);
    for (const domain of ['spinnaker', 'local', 'localdomain', 'internal']) {
      const excluded = restrictions.excludedHostnames.some((pattern) => pattern.test(`orca.${domain}`));
      expect(excluded, domain).toBe(true);
    }
  });

  test('reads keys in kebab case and values as Spring writes them', () => {
    const restrictions = parseUrlRestrictions(
      { 'reject-verbatim-ips': 'false', 'allowed-schemes': ['HTTPS'], 'rejected-ips': ['10.0.0.0/8', '::1'] },
      'account a',
    );
    expect(restrictions.rejectVerbatimIps).toBe(false);
    expect(restrictions.allowedSchemes).toEqual(['https']);
    expect(restrictions.rejectedIps.map(([address, length]) => `${address}/${length}`)).toEqual([
      '10.0.0.0/8',
      '::1/128',
    ]);
  });

  test('takes excluded domains literally', () => {
    const { excludedHostnames } = parseUrlRestrictions({ excludedDomains: ['a.b$&'] }, 'account a');
    expect(excludedHostnames.some((pattern) => pattern.test('x.a.b$&'))).toBe(true);
    expect(excludedHostnames.some((pattern) => pattern.test('x.azb$&'))).toBe(false);
  });

  test.each([
    [{ allowedHostnamesRegex: '(' }, 'allowedHostnamesRegex: expected a regular expression'],
    [{ allowedDomains: ['*.example.com'] }, 'allowedDomains: expected a regular expression'],
    [{ extraExcludedPatterns: ['['] }, 'extraExcludedPatterns: expected a regular expression'],
    [{ allowedSchemes: ['ftp'] }, 'allowedSchemes: expected http, https or both'],
    [{ rejectedIps: ['10.0.0.0/33'] }, 'rejectedIps: expected an IP address or a CIDR block'],
    [{ rejectedIps: ['10.0.0.0/8/8'] }, 'rejectedIps: expected an IP address or a CIDR block'],
    [{ rejectedIps: ['10.0.0.0/'] }, 'rejectedIps: expected an IP address or a CIDR block'],
    [{ allowedIps: ['0177.0.0.1'] }, 'allowedIps: expected an IP address or a CIDR block'],
    [{ allowedIps: ['10.1'] }, 'allowedIps: expected an IP address or a CIDR block'],
    [{ allowedIps: ['ghe.example.com'] }, 'allowedIps: expected an IP address or a CIDR block'],
    [{ allowedIps: '10.0.0.1' }, 'allowedIps: expected a list'],
    [{ rejectLocalhost: 'perhaps' }, 'rejectLocalhost: expected true or false'],
    [{ excludedDomainsFromEnvironment: ['POD_NAMESPACE'] }, 'excludedDomainsFromEnvironment: not supported'],
  ])('refuses %j by the name of the key', (settings, message) => {
    expect(() => parseUrlRestrictions(settings, 'account a')).toThrow(`account a: ${message}`);
  });
});
