import { describe, expect, it } from 'vitest';
import { onlyArtifacts, withoutArtifacts } from '#settings/live/divided-settings.ts';

const source = 'secret busdriver-prod-config';

describe('the secret with the settings', () => {
  it('has no artifact accounts: each is told, and where to move it', () => {
    const { settings, rejectedAccounts } = withoutArtifacts(
      {
        kubernetes: { accounts: [{ name: 'prod' }] },
        Artifacts: {
          'url-restrictions': { allowedDomains: ['example.com'] },
          github: { enabled: 'true', accounts: [{ name: 'hub', token: 'planted' }, { token: 'planted' }] },
          http: { enabled: true },
          s3: { enabled: false, accounts: [{ name: 'unused' }] },
        },
      },
      source,
    );

    expect(settings).toEqual({ kubernetes: { accounts: [{ name: 'prod' }] } });
    expect(rejectedAccounts.map(({ name }) => name)).toEqual([
      'artifacts.url-restrictions',
      'hub',
      'artifacts.github.accounts[1]',
      'artifacts.http',
    ]);
    expect(rejectedAccounts[1]?.reason).toBe(
      'artifacts.github.accounts[0]: artifact accounts are read from a secret of their own: move them from secret ' +
        'busdriver-prod-config to <prefix>-<stage>-artifacts, or to the one that the option artifactsSecretArn names',
    );
    expect(JSON.stringify(rejectedAccounts)).not.toContain('planted');
  });

  it('has nothing to tell where it speaks of none, or switches all off, as Halyard writes it', () => {
    const off = { artifacts: { gcs: { enabled: false, accounts: [] }, github: { enabled: false } } };
    for (const settings of [{}, { artifacts: null }, off]) {
      expect(withoutArtifacts(settings, source).rejectedAccounts).toEqual([]);
    }
  });
});

describe('the secret of artifacts', () => {
  const artifacts = { http: { enabled: true } };

  it('is read for artifacts alone', () => {
    const { settings, rejectedAccounts } = onlyArtifacts(
      { artifacts, services: { front50: { baseUrl: 'http://elsewhere' } }, kubernetes: { enabled: false } },
      source,
    );

    expect(settings).toEqual({ artifacts });
    expect(rejectedAccounts).toEqual([]);
  });

  it('takes no accounts of clusters, and says so', () => {
    const { settings, rejectedAccounts } = onlyArtifacts(
      { artifacts, kubernetes: { accounts: [{}] } },
      source,
    );
    expect(settings).toEqual({ artifacts });
    expect(rejectedAccounts).toEqual([
      { name: 'kubernetes.accounts', reason: expect.stringContaining('configSecretArn') },
    ]);
  });
});
