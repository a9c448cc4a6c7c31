import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AccessDeniedError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  assertAddressesAllowed,
  assertUrlAllowed,
  hostLengthMax,
} from '#providers/artifacts/download/url-guard.ts';
import { parseUrlRestrictions } from '#providers/artifacts/download/url-restrictions.ts';

const defaults = parseUrlRestrictions({}, 'a');

/** The strictest test of the address rules: everything about names switched off. */
const literalsAllowed = { rejectVerbatimIps: false };

/** The outcome of a URL: undefined when it passes, the message otherwise. */
function judgeUrl(url: string, settings: JsonObject = {}): string | undefined {
  return catchDenial(() => assertUrlAllowed(new URL(url), parseUrlRestrictions(settings, 'a')));
}

function judgeAddress(address: string, settings: JsonObject = {}): string | undefined {
  return catchDenial(() =>
    assertAddressesAllowed('files.example.com', [address], parseUrlRestrictions(settings, 'a')),
  );
}

function catchDenial(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(AccessDeniedError);
    return (error as Error).message;
  }
}

/** URLs that reach for what they should not, each in a notation that somebody's parser reads. */
const hostileUrls = [
  ...['http:127.0.0.1/', 'http:\\\\127.0.0.1\\', 'http://user:secret@127.0.0.1/'],
  ...['http://example.com@127.0.0.1/', 'http://example.com%40127.0.0.1@169.254.169.254/'],
  ...['http://127.0.0.1#@example.com/', 'http://127.0.0.1\\@example.com/'],
  ...['http://127.0.0.1?@example.com/', 'http://[fd00:ec2::254]/latest/meta-data/'],
  ...['http://169.254.169.254/latest/meta-data/', 'http://169.254.170.2/v2/credentials'],
  ...['http://100.100.100.200/latest/meta-data/', 'http://168.63.129.16/machine'],
  ...['http://192.0.0.192/opc/v2/'],
];

/** And hosts that they should not reach. */
const hostileHosts = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1'],
  ...['017700000001', '0', '0.0.0.0', '127.0.0.1.', '１２７.０.０.１', '127。0。0。1'],
  ...['%31%32%37.0.0.1', '[::1]'],
  ...['[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:169.254.169.254]'],
  ...['[::127.0.0.1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]'],
  ...['[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '[fe80::1]'],
  ...['[fec0::1]', '[fc00::1]', '[ff02::1]', '[100::1]', '[2001:db8::1]', '0xA9FEA9FE', '2852039166'],
  ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '198.18.0.1', '224.0.0.1'],
  ...['240.0.0.1', '255.255.255.255', '10.1', '0x0a000001', '0x0a.0.0.1', '012.0.0.1', '0300.0250.0.1'],
  ...['3232235521', '192.168.257', '10.0.0.1.:8080', '10.0.0.1:22', '[::ffff:10.0.0.1]'],
  ...['[::ffff:a00:1]:8443', '[0:0:0:0:0:ffff:192.168.0.1]', '[::10.0.0.1]', '[64:ff9b::10.0.0.1]'],
  ...['[64:ff9b::c0a8:1]', '[64:ff9b:1::10.0.0.1]', '[2002:a00:1::]', '[2002:a9fe:a9fe::1]'],
  ...['[2002:c0a8:1::]', '[2001:10::1]', '[febf::1]', '[fdff::1]', '[ff0e::1]', '[::2]', '100.127.255.255'],
  ...['169.254.0.1', '192.0.0.1', '192.0.2.1', '198.19.255.255', '203.0.113.1', '239.255.255.255'],
];

const excludedNames = [
  ...['http://localhost/', 'http://LOCALHOST/', 'http://localhost./', 'http://orca/'],
  ...['http://orca:8083/admin', 'http://clouddriver.svc.cluster.local/'],
  ...['http://metadata.google.internal/', 'http://metadata.google.internal./'],
  ...['http://metadata.google.INTERNAL/', 'http://orca.spinnaker/', 'http://printer.localdomain/'],
];

const otherSchemes = [
  ...['file:///etc/passwd', 'ftp://example.com/a', 'gopher://127.0.0.1:70/_x', 'data:text/plain,hello'],
  ...['javascript:alert(1)', 'ws://example.com/', 'dict://127.0.0.1:11211/stats'],
];

describe('assertUrlAllowed', () => {
  test.each([...hostileUrls, ...hostileHosts.map((host) => `http://${host}/`)])(
    'refuses %s, by itself and where literal addresses are allowed',
    (url) => {
      expect(judgeUrl(url)).toContain('(urlRestrictions.rejectVerbatimIps)');
      expect(judgeUrl(url, literalsAllowed)).toMatch(
        /\(urlRestrictions\.(rejectLocalhost|rejectLinkLocal|rejectPrivateIps|allowedIps)\)/,
      );
    },
  );

  test.each(excludedNames)('refuses %s by its name', (url) => {
    expect(judgeUrl(url)).toContain('(urlRestrictions.allowedHostnamesRegex, excludedDomains)');
  });

  test.each(otherSchemes)('refuses %s by its scheme', (url) => {
    expect(judgeUrl(url)).toContain('(urlRestrictions.allowedSchemes)');
  });

  test.each([
    'https://example.com/a?b=c',
    'http://raw.githubusercontent.com/x',
    'https://host_with_underscore.example.com/',
    'https://internal.example.com/',
    'https://example.com:8443/',
  ])('lets %s pass', (url) => {
    expect(judgeUrl(url)).toBeUndefined();
  });

  test.each([
    'https://user:planted@example.com/',
    'https://planted@example.com/',
    'https://:planted@example.com/',
    'https://api.github.com%2f@example.com/',
    'https://example.org:443@example.com:8443/',
  ])('refuses %s: a user name makes a foreign host look like another', (url) => {
    expect(judgeUrl(url, { allowedDomains: ['example\\.com'] })).toBe(
      "A URL of host 'example.com' is not allowed: it holds a user name or password",
    );
  });

  test('refuses a name longer than any in DNS, and tells its beginning', () => {
    const longest = `${'a'.repeat(hostLengthMax - 4)}.com`;
    expect(judgeUrl(`https://${longest}/`)).toBeUndefined();
    expect(judgeUrl(`https://${longest}./`)).toBeUndefined();
    expect(judgeUrl(`https://a${longest}/`)).toBe(
      `Host '${'a'.repeat(64)}…' is not allowed: a name has at most 253 characters`,
    );
  });

  test('names the host and nothing else of the URL', () => {
    const message = judgeUrl('http://user:planted@10.1.2.3:8080/planted?token=planted#planted');
    expect(message).toContain("Host '10.1.2.3' is not allowed");
    expect(message).not.toContain('planted');
  });

  test('allows public literals only where they are allowed', () => {
    expect(judgeUrl('http://93.184.216.34/')).toContain('rejectVerbatimIps');
    expect(judgeUrl('http://93.184.216.34/', literalsAllowed)).toBeUndefined();
    expect(judgeUrl('http://[2606:2800:220:1::1]/', literalsAllowed)).toBeUndefined();
  });

  test('allows literals of allowedIps, and only these', () => {
    const settings = { allowedIps: ['10.1.0.0/16', 'fd12::/16'] };
    expect(judgeUrl('http://10.1.2.3/', settings)).toBeUndefined();
    expect(judgeUrl('http://[fd12::1]/', settings)).toBeUndefined();
    expect(judgeUrl('http://[::ffff:10.1.2.3]/', settings)).toBeUndefined();
    expect(judgeUrl('http://10.2.2.3/', settings)).toContain('rejectVerbatimIps');
  });

  test('lets rejectedIps win over allowedIps', () => {
    const settings = { allowedIps: ['10.0.0.0/8'], rejectedIps: ['10.1.0.0/16', '64:ff9b::/96'] };
    expect(judgeUrl('http://10.2.0.1/', settings)).toBeUndefined();
    expect(judgeUrl('http://10.1.0.1/', settings)).toContain('rejectedIps');
    expect(judgeUrl('http://[64:ff9b::10.2.0.1]/', settings)).toContain('rejectedIps');
  });

  test('limits hosts to allowedDomains, which also lift the name rules', () => {
    const settings = { allowedDomains: ['ghe\\.corp', 'orca', '.*\\.example\\.com'] };
    expect(judgeUrl('https://a.example.com/', settings)).toBeUndefined();
    expect(judgeUrl('https://orca/', settings)).toBeUndefined();
    expect(judgeUrl('https://ghe.corp/', settings)).toBeUndefined();
    expect(judgeUrl('https://example.org/', settings)).toContain('allowedDomains');
    expect(judgeUrl('https://a.example.com.evil.org/', settings)).toContain('allowedDomains');
  });

  test('matches allowedHostnamesRegex against the whole name, in either case', () => {
    const settings = { allowedHostnamesRegex: '(?i)GHE\\.example\\.com' };
    expect(judgeUrl('https://ghe.example.com/', settings)).toBeUndefined();
    expect(judgeUrl('https://ghe.example.com.evil.org/', settings)).toContain('allowedHostnamesRegex');
    expect(judgeUrl('https://evil.org/', settings)).toContain('allowedHostnamesRegex');
  });

  test('allows nothing where the host names are blank, as Spinnaker does', () => {
    expect(judgeUrl('https://example.com/', { allowedHostnamesRegex: ' ' })).toContain(
      'no host names are allowed',
    );
  });

  test('allows only the schemes that are listed', () => {
    expect(judgeUrl('http://example.com/', { allowedSchemes: ['https'] })).toContain('allowedSchemes');
    expect(judgeUrl('https://example.com/', { allowedSchemes: ['https'] })).toBeUndefined();
  });

  test('leaves local names to their addresses once localhost is allowed', () => {
    expect(judgeUrl('http://localhost/', { rejectLocalhost: false })).toBeUndefined();
  });
});

describe('assertAddressesAllowed', () => {
  test('refuses a name when one of its addresses is bad', () => {
    expect(() =>
      assertAddressesAllowed('files.example.com', ['93.184.216.34', '10.0.0.1'], defaults),
    ).toThrow(
      "Host 'files.example.com' is not allowed: its address is private (urlRestrictions.rejectPrivateIps)",
    );
  });

  test('refuses an excluded name that leads to a public address', () => {
    expect(() => assertAddressesAllowed('orca.internal.', ['93.184.216.34'], defaults)).toThrow(
      "Host 'orca.internal'",
    );
  });

  test('allows an excluded name where it leads to this machine and that is allowed', () => {
    const restrictions = parseUrlRestrictions({ rejectLocalhost: false }, 'a');
    expect(() => assertAddressesAllowed('localhost', ['127.0.0.1', '::1'], restrictions)).not.toThrow();
    expect(() => assertAddressesAllowed('orca', ['93.184.216.34'], restrictions)).toThrow("Host 'orca'");
    expect(() => assertAddressesAllowed('orca', ['127.0.0.1', '93.184.216.34'], restrictions)).toThrow(
      "Host 'orca'",
    );
  });

  test.each([
    ['10.1.2.3', { rejectPrivateIps: false }],
    ['100.64.3.4', { rejectPrivateIps: false }],
    ['fd12::1', { rejectPrivateIps: false }],
    ['127.0.0.1', { rejectLocalhost: false }],
    ['::1', { rejectLocalhost: false }],
    ['169.254.1.1', { rejectLinkLocal: false }],
    ['fe80::1%eth0', { rejectLinkLocal: false }],
    ['64:ff9b::8.8.8.8', {}],
    ['198.18.0.1', { allowedIps: ['198.18.0.0/15'] }],
  ])('allows %s where %j says so', (address, settings) => {
    expect(judgeAddress(address, settings)).toBeUndefined();
  });

  test.each([
    ['169.254.169.254', 'rejectLinkLocal'],
    ['fd00:ec2::254', 'rejectLinkLocal'],
    ['100.100.100.200', 'rejectLinkLocal'],
    ['168.63.129.16', 'rejectLinkLocal'],
    ['127.0.0.1', 'rejectLocalhost'],
    ['224.0.0.1', 'allowedIps'],
  ])('still refuses %s where private addresses are allowed', (address, rule) => {
    expect(judgeAddress(address, { rejectPrivateIps: false })).toContain(`(urlRestrictions.${rule})`);
  });

  test('takes each address of this machine for this machine', () => {
    const own = Object.values(networkInterfaces()).flatMap((found = []) => found);
    for (const { address } of own)
      expect(judgeAddress(address)).toContain('(urlRestrictions.rejectLocalhost)');
    expect(own).not.toEqual([]);
  });

  test('keeps the addresses of a name to itself', () => {
    expect(judgeAddress('10.11.12.13')).not.toContain('10.11.12.13');
  });

  test('judges an IPv4 address alike in every notation that leads to it', () => {
    const anyIpv4 = fc
      .tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
      .map((parts) => parts.join('.'));
    fc.assert(
      fc.property(anyIpv4, (address) => {
        const plain = judgeAddress(address);
        expect(judgeAddress(`::ffff:${address}`)).toBe(plain);
        expect(judgeAddress(`64:ff9b::${address}`)).toBe(plain);
      }),
    );
  });

  test('allows nothing in IPv6 outside the block of the public internet', () => {
    const outside = fc
      .array(fc.nat(0xffff), { minLength: 8, maxLength: 8 })
      .filter(([first = 0]) => first >> 13 !== 1)
      .map((parts) => parts.map((part) => part.toString(16)).join(':'))
      .filter((address) => !address.startsWith('64:ff9b:0:') && !address.startsWith('0:0:0:0:0:ffff:'));
    fc.assert(
      fc.property(outside, (address) => {
        expect(judgeAddress(address)).toBeDefined();
      }),
    );
  });
});
