import { expect, it } from 'vitest';
import { parseCredentialsSettings, toCredentialsView } from '#accounts/credentials-view.ts';
import { accountSchema, kubernetesAccountSchema } from '#contract/answers/credentials.ts';
import { openProvider } from '#test/shared/providers/kubernetes/provider-setup.ts';
import { toSet } from '#test/support/providers/provider-set.ts';

it('tells an account with a class of infrastructure that only its configuration knows', async () => {
  const customResources = [{ kubernetesKind: 'Secret', spinnakerKind: 'vaults' }];
  const permissions = { READ: ['team'] };
  const settings = { name: 'prod', kubeconfigContents: '{}', cacheIntervalSeconds: 45 };
  await using provider = openProvider([{ ...settings, permissions, customResources }]);
  const show = (expand: boolean) =>
    toSet(provider).accounts.map((account) =>
      JSON.parse(JSON.stringify(toCredentialsView(account, { ...parseCredentialsSettings({}), expand }))),
    );

  expect(show(false).map((account) => accountSchema.parse(account))).toEqual(show(false));
  expect(show(true).map((account) => kubernetesAccountSchema.parse(account))).toEqual(show(true));
  expect(show(true)).toMatchObject([{ cacheIntervalSeconds: 45, spinnakerKindMap: { Secret: 'vaults' } }]);
});
