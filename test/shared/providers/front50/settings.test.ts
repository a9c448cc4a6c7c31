import { describe, expect, it } from 'vitest';
import { parseBaseUrl } from '#providers/front50/settings.ts';

const baseUrl = 'http://spin-front50.spinnaker:8080';

describe('services.front50', () => {
  it.each([
    [{ services: { front50: { baseUrl } } }, `${baseUrl}/`],
    [{ services: { front50: { 'base-url': `${baseUrl}/front50/` } } }, `${baseUrl}/front50/`],
    [{ services: { front50: { baseUrl, enabled: 'true' } } }, `${baseUrl}/`],
    [{ services: { front50: { baseUrl, enabled: false } } }, undefined],
    [{ services: { front50: { enabled: false } } }, undefined],
    [{ services: { front50: {} } }, undefined],
    [{ services: { front50: null } }, undefined],
    [{}, undefined],
  ])('%j leads to %s', (settings, url) => {
    expect(parseBaseUrl(settings)?.href).toBe(url);
  });

  it.each([
    { enabled: true },
    { baseUrl: 'spin-front50:8080' },
    { baseUrl: 'ftp://spin-front50' },
    { baseUrl: 'http://user:planted@spin-front50' },
    { baseUrl: 'http://spin-front50?token=planted' },
  ])('%j is refused without being quoted', (front50) => {
    expect(() => parseBaseUrl({ services: { front50 } })).toThrow(
      /^services\.front50\.baseUrl: expected an http or https URL without user, query and fragment$/,
    );
  });
});
