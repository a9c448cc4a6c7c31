import { describe, expect, test } from 'vitest';
import { systemClock } from '#platform/services/system.ts';
import { parseTokenBroker, TokenBrokers } from '#providers/kubernetes/account/token-brokers.ts';
import { silentLog } from '../client/client-setup.ts';

const environment = { ARCADE_URL: 'http://arcade.test:1982', ARCADE_API_KEY: 'key of the environment' };

describe('the broker arcade', () => {
  test('needs no setting', () => {
    const defaults = { name: 'arcade', apiKey: '', timeoutMs: 3_000, maxAgeSeconds: 60 };
    expect(parseTokenBroker('arcade', {})).toEqual({ ...defaults, url: 'http://localhost:1982' });
  });

  test('is found by the variables of go-clouddriver', () => {
    const found = { url: environment.ARCADE_URL, apiKey: environment.ARCADE_API_KEY };
    expect(parseTokenBroker('arcade', {}, environment)).toMatchObject(found);
  });

  test('is what the settings say, in any spelling, which win', () => {
    const arcade = {
      URL: 'https://own.test/arcade',
      'api-key': 'own',
      'timeout-ms': '1',
      max_age_seconds: 9,
    };
    expect(parseTokenBroker('arcade', { busdriver: { 'token-brokers': { arcade } } }, environment)).toEqual({
      name: 'arcade',
      url: 'https://own.test/arcade',
      apiKey: 'own',
      timeoutMs: 1,
      maxAgeSeconds: 9,
    });
  });
});

test('another broker has nothing of those variables', () => {
  const settings = { busdriver: { tokenBrokers: { vault: { url: 'https://vault.test' } } } };
  expect(parseTokenBroker('vault', settings, environment)).toMatchObject({ apiKey: '' });
});

describe('deployed functions', () => {
  const open = (url: string, placement: 'deployed' | 'local') =>
    new TokenBrokers({
      settings: { busdriver: { tokenBrokers: { arcade: { url } } } },
      placement,
      clock: systemClock,
      log: silentLog,
    }).get('arcade');

  test.each([
    ...['http://localhost:1982', 'http://LOCALHOST.', 'http://arcade.localhost', 'http://127.0.0.1:1982'],
    ...['http://127.1', 'http://0x7f.0.0.9', 'http://0.0.0.0', 'http://[::1]:1982', 'http://[::]'],
    'http://[::ffff:127.0.0.1]',
  ])('have no broker of their own machine: %s', (url) => {
    expect(() => open(url, 'deployed')).toThrow('busdriver.tokenBrokers.arcade.url: ');
    expect(open(url, 'local').url.href).toBe(new URL(url).href);
  });

  test.each(['http://10.0.0.1:1982', 'https://arcade.internal', 'http://[fd00::1]', 'http://localhost.test'])(
    'have one that a VPC may reach: %s',
    (url) => {
      expect(open(url, 'deployed').url.href).toBe(new URL(url).href);
    },
  );
});
