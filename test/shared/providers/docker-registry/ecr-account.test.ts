import { describe, expect, test } from 'vitest';
import { FailedOperationError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { parseRegistryAccounts } from '#providers/docker-registry/account.ts';
import type { EcrToken } from '#providers/docker-registry/ecr-client.ts';
import { createEcrCredentials } from '#providers/docker-registry/ecr-credentials.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';
import { openClient, parseAccount } from './test-account.ts';

const address = 'https://123456789012.dkr.ecr.us-west-2.amazonaws.com';
const registry = { registryId: '123456789012', region: 'us-west-2' };
const hour = 3_600_000;

describe('accounts of ECR', () => {
  test.each<[JsonObject, object]>([
    [{ address }, registry],
    [{ address: `${address}/v2/` }, registry],
    [{ address: address.replace('.ecr.', '.ecr-fips.') }, registry],
    [{ address: address.replace('.dkr.ecr.', '.dkr-ecr.').replace('amazonaws.com', 'on.aws') }, registry],
    [
      { address: 'https://123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn' },
      { ...registry, region: 'cn-north-1' },
    ],
    [
      { address, ecr: { roleArn: 'arn:aws:iam::111122223333:role/a', externalId: 'x-1' } },
      { ...registry, roleArn: 'arn:aws:iam::111122223333:role/a', externalId: 'x-1' },
    ],
    [{ address: 'https://images.example.com', ecr: { ...registry } }, registry],
  ])('are %j', (options, expected) => {
    expect(parseAccount(options).ecr).toEqual(expected);
  });

  test.each<JsonObject>([
    { address, username: 'AWS', password: 'planted' },
    { address, passwordCommand: 'aws ecr get-login-password' },
    { address: 'https://public.ecr.aws' },
    { address: 'https://registry.test' },
    { address: `${address}.evil.test` },
  ])('are not %j', (options) => {
    expect(parseAccount(options).ecr).toBeUndefined();
  });

  test.each<[JsonObject, string]>([
    [
      { address, password: 'planted', ecr: { ...registry } },
      'dockerRegistry.accounts[0]: ecr and a password may not be specified together.',
    ],
    [{ address: 'https://registry.test', ecr: {} }, '[0].ecr.registryId: expected the 12 digits'],
    [{ address, ecr: { registryId: '12' } }, '[0].ecr.registryId: expected the 12 digits'],
    [{ address, ecr: { region: 'west' } }, '[0].ecr.region: expected a region of AWS'],
    [{ address, ecr: { region: '$REGION' } }, '[0].ecr.region: expected a region of AWS'],
    [{ address, ecr: { roleArn: 'reader' } }, '[0].ecr.roleArn: expected the ARN of a role'],
    [{ address, ecr: { externalId: '$ID' } }, '[0].ecr.externalId: expected an external id'],
    [{ address, ecr: 'yes' }, '[0].ecr'],
  ])('that are wrong are rejected alone: %j', (options, reason) => {
    const accounts = [
      { name: 'wrong', ...options },
      { name: 'good', address },
    ];
    const settings = { dockerRegistry: { accounts } };
    const parsed = parseRegistryAccounts({ settings, placement: 'deployed' });
    expect(parsed.accounts.map(({ name }) => name)).toEqual(['good']);
    expect(parsed.rejected).toMatchObject([{ name: 'wrong', reason: expect.stringContaining(reason) }]);
    expect(JSON.stringify(parsed.rejected)).not.toContain('planted');
  });

  test('cannot be listed where there is no way to AWS', async () => {
    await using opened = openClient({ address });
    const listed = opened.listing.listRepositories(new AbortController().signal);
    await expect(listed).rejects.toThrow('there is no way to ask ECR from here');
  });
});

describe('tokens of ECR', () => {
  /** Tokens of twelve hours, numbered. */
  function openCredentials() {
    const clock = createStandingClock();
    const asked: (() => void)[] = [];
    const state = { isHeld: false, isAway: false };
    const ask = async (): Promise<EcrToken> => {
      const basic = `token${asked.length + 1}`;
      const { promise, resolve } = Promise.withResolvers<void>();
      asked.push(resolve);
      if (state.isHeld) await promise;
      if (state.isAway) throw new FailedOperationError('away');
      return { basic, expiresAtMs: clock.now() + 12 * hour };
    };
    return { ...createEcrCredentials({ clock, ask }), clock, asked, state };
  }

  test('are asked for once, however many wait', async () => {
    const tokens = openCredentials();
    tokens.state.isHeld = true;
    const waiting = Array.from({ length: 20 }, () => tokens.get());
    tokens.asked[0]?.();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['token1']));
    expect(tokens.asked).toHaveLength(1);
  });

  test('are renewed when four fifths of their time are over', async () => {
    const tokens = openCredentials();
    expect(await tokens.get()).toBe('token1');
    tokens.clock.advance(9.5 * hour);
    expect(await tokens.get()).toBe('token1');
    tokens.clock.advance(0.2 * hour);
    expect(await tokens.get()).toBe('token2');
  });

  test('are used to their end where there is no other', async () => {
    const tokens = openCredentials();
    await tokens.get();
    tokens.state.isAway = true;
    tokens.clock.advance(11 * hour);
    expect(await tokens.get()).toBe('token1');
    tokens.clock.advance(2 * hour);
    await expect(tokens.get()).rejects.toThrow('away');
    tokens.state.isAway = false;
    expect(await tokens.get()).toMatch(/^token\d$/);
  });

  test('that are refused are not used again, unless they are new', async () => {
    const tokens = openCredentials();
    await tokens.get();
    tokens.invalidate();
    expect(await tokens.get()).toBe('token1');
    tokens.clock.advance(60_000);
    tokens.invalidate();
    expect(await tokens.get()).toBe('token2');
  });
});
