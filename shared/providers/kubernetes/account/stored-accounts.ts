import type { StoredAccounts } from '#provider-kit/stored-accounts.ts';
import { accountOptions } from './account-fields.ts';

/** Members of a kubeconfig that hold secrets, and the environment that it gives to a program that makes credentials. */
const secretMembers =
  /["']?\b(token|password|client-key-data|client-secret|id-token|refresh-token|access-token|value)\b["']?[ \t]*:/i;

/** How an API creates accounts of Kubernetes. */
export const storedAccounts: StoredAccounts = {
  options: accountOptions,
  secrets: ['kubeconfigContents', 'server.bearerToken'],
  // Kubeconfigs, too, say where secrets are sent, but are hidden as a whole.
  secretDestinations: ['server.host'],
  secretNames: ['kubeconfigSecret'],
  // A kubeconfig whose user has a program make credentials holds no secret.
  holdsSecret: (option, text) => option !== 'kubeconfigContents' || secretMembers.test(text),
  async loadIdentityCheck() {
    const { findBorrowedIdentity } = await import('./broker-hosts.ts');
    return findBorrowedIdentity;
  },
};
