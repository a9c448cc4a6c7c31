import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it } from 'vitest';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { configureDeployedSystem, getDeployment } from '#test/support/system/deployed-system.ts';

const planted = 'planted-s3cr3t';

/** A rule starts the publisher each minute; readers look every 20 seconds. */
const timeout = 150_000;

describe('the facts of accounts', () => {
  it('follow both secrets by themselves, without what is secret in them', async () => {
    const { endpoint, name, url } = getDeployment();
    await using system = await configureDeployedSystem(getDeployment(), {});
    expect(await listNames(url, '/credentials')).toEqual([]);

    const kubernetes = { accounts: [{ name: 'new', kubeconfigContents: planted }] };
    const http = { enabled: true, accounts: [{ name: 'web', username: planted, password: planted }] };
    await put(endpoint, `${name}-config`, { kubernetes });
    await put(endpoint, `${name}-artifacts`, { artifacts: { http } });

    await expect.poll(() => listNames(url, '/credentials'), { timeout, interval: 1_000 }).toEqual(['new']);
    await expect
      .poll(() => listNames(url, '/artifacts/credentials'), { timeout, interval: 1_000 })
      .toContain('web');
    expect(await system.readLog()).toContain('account facts are published');
    for (const path of ['/credentials?expand=true', '/artifacts/credentials']) {
      expect(await (await fetch(new URL(path, url))).text()).not.toContain(planted);
    }
  }, 400_000);
});

async function listNames(url: string, path: string): Promise<readonly string[]> {
  const response = await fetch(new URL(path, url));
  const answer = (await response.json()) as { readonly name: string }[];
  return answer.map(({ name }) => name);
}

async function put(endpoint: string, secret: string, value: object): Promise<void> {
  const client = new SecretsManagerClient({ ...localClientOptions, endpoint });
  await client.send(new PutSecretValueCommand({ SecretId: secret, SecretString: JSON.stringify(value) }));
  client.destroy();
}
