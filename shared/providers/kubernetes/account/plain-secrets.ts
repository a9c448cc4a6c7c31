import type { JsonObject } from '#core/json.ts';
import { isInlineSecret, isSecretReference } from '#settings/secret-reference.ts';
import { getSetting } from '#settings/spring-config.ts';

/** Options of an account that may hold a secret: their values are never shown. */
export const secretOptions = ['kubeconfigContents', 'server.bearerToken'] as const;

/** Options of an account that say where its secrets are sent, besides kubeconfigs, which are hidden as a whole. */
export const secretDestinations = ['server.host'] as const;

/** Options of an account that may name a secret without Spinnaker's syntax. */
export const secretNameOptions = ['kubeconfigSecret'] as const;

/** Members of a kubeconfig that hold secrets, and the environment that it gives to a program that makes credentials. */
const secretMembers =
  /["']?\b(token|password|client-key-data|client-secret|id-token|refresh-token|access-token|value)\b["']?[ \t]*:/i;

/**
 * Paths of a definition's options that hold a secret itself, not a reference to one. A kubeconfig whose user has a program make credentials
 * holds none.
 */
export function findPlainSecrets(definition: JsonObject): readonly string[] {
  return secretOptions.filter((path) => {
    const value = getSetting(definition, path);
    if (typeof value !== 'string' || value === '') return false;
    if (isSecretReference(value)) return isInlineSecret(value);
    return path !== 'kubeconfigContents' || secretMembers.test(value);
  });
}
