import { describe, expect, it } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import { hasUpstream, keepsAccount, parseUpstreamSettings } from '#settings/upstream-settings.ts';

const parse = (upstream: JsonValue) => parseUpstreamSettings({ busdriver: { upstream } });
const baseUrl = 'https://old:7002/cd';

describe('busdriver.upstream', () => {
  it('is off without a baseUrl', () => {
    for (const section of [null, {}, { 'base-url': '' }, { timeoutSeconds: 3 }]) {
      expect(parse(section)).toBeUndefined();
      expect(hasUpstream({ busdriver: { upstream: section } })).toBe(false);
    }
  });

  it('has defaults, and takes Spring’s spellings', () => {
    const given = { 'base-url': baseUrl, headers: { 'X-Door': 'open' }, timeout_seconds: '7' };
    expect(hasUpstream({ busdriver: { upstream: given } })).toBe(true);
    expect(parse(given)).toEqual({
      ...{ baseUrl: new URL(`${baseUrl}/`), timeoutMs: 7_000, partial: 'mark', deduplicates: true },
      ...{ headers: { 'x-door': 'open' }, proxy: undefined, keep: [] },
      tls: { caFile: undefined, certFile: undefined, keyFile: undefined },
    });
  });

  it('keeps accounts by their names, or by a part of them', () => {
    const settings = { keep: ['prod-*', '*-eu', 'a*z', 'exact'] };
    const kept = ['prod-', 'prod-1', 'my-eu', 'az', 'abcz', 'exact'];
    const others = ['my-prod-1', 'eu', 'a', 'z', 'exactly', ''];
    expect([...kept, ...others].filter((name) => keepsAccount(settings, name))).toEqual(kept);
    expect(keepsAccount({ keep: ['*'] }, 'any')).toBe(true);
  });

  it.each<[JsonValue, string]>([
    [{ baseUrl: 'ftp://old' }, 'baseUrl: expected an http or https URL without user, query and fragment'],
    [{ baseUrl: 'http://a:planted@old' }, 'baseUrl: expected an http or https URL without user'],
    [{ baseUrl, timeoutSeconds: 60 }, 'timeoutSeconds: expected a whole number from 1 to 15, got 60'],
    [{ baseUrl, partial: 'maybe' }, 'partial: expected one of mark, refuse, got a string'],
    [{ baseUrl, headers: { 'Content-Length': '1' } }, 'headers: expected names of headers, none of which'],
    [{ baseUrl, headers: { 'X-A': 'planted\n' } }, 'headers: expected values of printable ASCII characters'],
    [{ baseUrl, keep: ['a*b*'] }, 'keep: expected names of accounts, each with at most one *'],
    [{ baseUrl, proxy: 'socks://planted' }, 'proxy: expected an http or https URL'],
    [{ baseUrl, tls: { certFile: '/a' } }, 'tls: expected certFile and keyFile, or neither'],
    ['http://old', ': expected an object, got a string'],
  ])('%j is refused', (section, message) => {
    expect(() => parse(section)).toThrow(message);
    expect(() => parse(section)).not.toThrow('planted');
  });
});
