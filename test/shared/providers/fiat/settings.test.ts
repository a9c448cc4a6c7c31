import { describe, expect, it } from 'vitest';
import { parseFiatSettings } from '#providers/fiat/settings.ts';

const parse = (fiat: Parameters<typeof parseFiatSettings>[0][string]) =>
  parseFiatSettings({ services: { fiat } });

describe('services.fiat', () => {
  it.each([
    [{}],
    [null],
    [{ enabled: false, baseUrl: 'nonsense' }],
    [{ enabled: '' }],
    [{ baseUrl: 'http://spin-fiat:7003' }],
  ])('%j is off', (fiat) => {
    expect(parse(fiat)).toBeUndefined();
    expect(parseFiatSettings({})).toBeUndefined();
  });

  it('has the defaults of Spinnaker', () => {
    const fiat = parse({ enabled: 'TRUE' });
    expect(fiat?.baseUrl.href).toBe('http://localhost:7003/');
    expect(fiat).toMatchObject({
      keptMs: 20_000,
      staleMs: 0,
      usersMax: 1_000,
      retryDelayMs: 500,
      totalMs: 10_000,
      wantsLegacyFallback: false,
    });
  });

  it('obeys what Spinnaker calls its settings', () => {
    const fiat = parse({
      enabled: true,
      'base-url': 'https://fiat.example.com/fiat',
      allowStaleSeconds: '60',
      legacyFallback: true,
      cache: { maxEntries: 10, expiresAfterWriteSeconds: 5 },
      retry: { initialBackoffMillis: 100, maxBackoffMillis: 3_000, retryMultiplier: 2 },
    });
    expect(fiat?.baseUrl.href).toBe('https://fiat.example.com/fiat/');
    expect(fiat).toMatchObject({
      keptMs: 5_000,
      staleMs: 60_000,
      usersMax: 10,
      retryDelayMs: 100,
      totalMs: 3_000,
      wantsLegacyFallback: true,
    });
  });

  it.each([
    [{ enabled: 'maybe' }, /^services\.fiat\.enabled: expected true or false, got a string/],
    ['on', /^services\.fiat: expected an object/],
    [
      { allowStaleSeconds: 301 },
      /^services\.fiat\.allowStaleSeconds: expected a whole number from 0 to 300, got 301$/,
    ],
    [{ allowStaleSeconds: -1 }, /allowStaleSeconds: expected/],
    [{ cache: { maxEntries: 0 } }, /^services\.fiat\.cache\.maxEntries: expected a whole number from 1 to/],
    [{ cache: { expiresAfterWriteSeconds: 3_600 } }, /expiresAfterWriteSeconds: expected/],
    [{ retry: { maxBackoffMillis: 60_000 } }, /maxBackoffMillis: expected a whole number from 1 to 10000/],
    [{ baseUrl: '' }, /^services\.fiat\.baseUrl: expected an http or https URL/],
    [{ baseUrl: 'spin-fiat:7003' }, /^services\.fiat\.baseUrl: expected/],
    [{ baseUrl: 'http://user:planted@spin-fiat' }, /^services\.fiat\.baseUrl: expected/],
    [{ baseUrl: 'http://spin-fiat?token=planted' }, /^services\.fiat\.baseUrl: expected/],
  ])('%j is refused by name', (fiat, message) => {
    const refusal = () => parse(typeof fiat === 'string' ? fiat : { enabled: true, ...fiat });
    expect(refusal).toThrow(message);
    expect(refusal).not.toThrow('planted');
  });
});
