import type { JsonObject } from '#core/json.ts';
import { type KubernetesAccount, parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';

/** An account with these members besides its name. */
export function openAccount(members: JsonObject): KubernetesAccount {
  const { accounts, rejected } = parseKubernetesAccounts({
    kubernetes: { accounts: [{ name: 'prod', ...members }] },
  });
  const [account] = accounts;
  if (account === undefined) throw new Error(JSON.stringify(rejected));
  return account;
}
