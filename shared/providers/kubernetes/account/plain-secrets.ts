import type { JsonObject } from '#core/json.ts';
import { isInlineSecret, isSecretReference } from '#settings/secret-reference.ts';
import { getSetting } from '#settings/spring-config.ts';

/** Options of an account that may hold a secret: nobody is shown their values. */
export const secretOptions = ['kubeconfigContents', 'server.bearerToken'] as const;

/** Options of an account that say where its secrets are sent, besides kubeconfigs, which are hidden as a whole. */
export const secretDestinations = ['server.host'] as const;

/** Options of an account that name a secret without Spinnaker's syntax, too. */
export const secretNameOptions = ['kubeconfigSecret'] as const;

/** Members of a kubeconfig that hold secrets, and what a program that makes credentials is given of the environment. */
const secretMembers =
  /["']?\b(token|password|client-key-data|client-secret|id-token|refresh-token|access-token|value)\b["']?[ \t]*:/i;

/**
 * Paths of the options of a definition that hold a secret themselves and not where one is. A kubeconfig whose user has a program make
 * credentials holds none.
 */
export function findPlainSecrets(definition: JsonObject): readonly string[] {
  return secretOptions.filter((path) => {
    const value = getSetting(definition, path);
    if (typeof value !== 'string' || value === '') return false;
    if (isSecretReference(value)) return isInlineSecret(value);
    return path !== 'kubeconfigContents' || secretMembers.test(value);
  });
}
