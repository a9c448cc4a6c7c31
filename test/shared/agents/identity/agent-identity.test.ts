import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AgentAuth, ServiceAccountAuth } from '#accounts/model/account.ts';
import { takesAll } from '#agents/identity/agent-identity.ts';
import type { JsonObject } from '#core/json.ts';

const [one, two] = ['one', 'two'].map((kid): JsonObject => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...JSON.parse(JSON.stringify(publicKey.export({ format: 'jwk' }))), kid };
});
const byKeys = (...keys: readonly (JsonObject | undefined)[]): ServiceAccountAuth => ({
  ...{ type: 'serviceAccount', issuer: 'https://cluster', subject: 'system:serviceaccount:a:b' },
  keys: { keys: keys.filter((key) => key !== undefined) },
});
const byUrl = (url: string): ServiceAccountAuth => ({ ...byKeys(), keys: { url: new URL(url) } });
const byCertificate = (...subjects: readonly string[]): AgentAuth => ({ type: 'certificate', subjects });
const byRole = (...names: readonly string[]): AgentAuth => ({
  type: 'iam',
  roleArns: names.map((name) => `arn:aws:iam::111122223333:role/${name}`),
});

describe('an account takes all proofs of before', () => {
  it.each<[string, AgentAuth, AgentAuth]>([
    ['the same key by another name', byKeys({ ...one, kid: 'other', use: 'sig' }), byKeys(one)],
    ['another key beside it', byKeys(two, one), byKeys(one)],
    ['the same URL', byUrl('https://keys.example.com/a'), byUrl('https://keys.example.com/a')],
    ['a subject written otherwise', byCertificate('CN=b', 'cn=a, O=Acme'), byCertificate('CN=a,O=Acme')],
    ['another role', byRole('a', 'b'), byRole('a')],
    ['the role at another path', byRole('agents/a'), byRole('a')],
  ])('with %s', (_what, now, before) => {
    expect(takesAll(now, before)).toBe(true);
  });

  it.each<[string, AgentAuth, AgentAuth]>([
    ['another key of the same name', byKeys({ ...two, kid: 'one' }), byKeys(one)],
    ['one key less', byKeys(two), byKeys(one, two)],
    ['another issuer', { ...byKeys(one), issuer: 'https://other' }, byKeys(one)],
    ['another subject', { ...byKeys(one), subject: 'system:serviceaccount:a:c' }, byKeys(one)],
    ['another URL', byUrl('https://keys.example.com/b'), byUrl('https://keys.example.com/a')],
    ['a URL in the place of keys', byUrl('https://keys.example.com/a'), byKeys(one)],
    ['keys in the place of a URL', byKeys(one), byUrl('https://keys.example.com/a')],
    ['one subject less', byCertificate('CN=a'), byCertificate('CN=a', 'CN=b')],
    ['a subject in another order', byCertificate('O=Acme,CN=a'), byCertificate('CN=a,O=Acme')],
    ['one role less', byRole('b'), byRole('a', 'b')],
    ['certificates in the place of keys', byCertificate('CN=a'), byKeys(one)],
    ['keys in the place of roles', byKeys(one), byRole('a')],
  ])('but not with %s', (_what, now, before) => {
    expect(takesAll(now, before)).toBe(false);
  });
});
