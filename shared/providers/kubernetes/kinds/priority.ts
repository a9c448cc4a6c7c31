import { InvalidInputError } from '#core/errors.ts';

/**
 * Order of deployment by class of object: lower numbers first, so that objects come before those that need them. The keys are the names
 * Spinnaker's configuration accepts for `customResources[].deployPriority`.
 */
export const deployPriorities = {
  NAMESPACE_PRIORITY: 0,
  ROLE_PRIORITY: 20,
  ROLE_BINDING_PRIORITY: 30,
  RESOURCE_DEFINITION_PRIORITY: 30,
  SERVICE_ACCOUNT_PRIORITY: 40,
  STORAGE_CLASS_PRIORITY: 40,
  ADMISSION_PRIORITY: 40,
  MOUNTABLE_DATA_BACKING_RESOURCE_PRIORITY: 40,
  MOUNTABLE_DATA_PRIORITY: 50,
  NETWORK_RESOURCE_PRIORITY: 70,
  API_SERVICE_PRIORITY: 80,
  WORKLOAD_MODIFIER_PRIORITY: 90,
  PDB_PRIORITY: 90,
  WORKLOAD_CONTROLLER_PRIORITY: 100,
  WORKLOAD_PRIORITY: 100,
  WORKLOAD_ATTACHMENT_PRIORITY: 110,
  LOWEST_PRIORITY: 1000,
} as const;

/**
 * Unlike in Clouddriver (40), configurations of webhooks come after everything that they may judge: a webhook refuses everything until the
 * Deployment behind it runs.
 */
export const webhookPriority = deployPriorities.LOWEST_PRIORITY + 1;

/**
 * A configured priority: a whole number, written as a number or as text, or one of the names above in any case.
 *
 * @param kubernetesKind the kind it is configured for, for messages.
 * @throws InvalidInputError for anything else.
 */
export function parseDeployPriority(value: string | number, kubernetesKind: string): number {
  const text = String(value).trim();
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text);
  const named = Object.entries(deployPriorities).find(([name]) => name === text.toUpperCase());
  if (named !== undefined) return named[1];
  const names = Object.keys(deployPriorities).join(', ');
  throw new InvalidInputError(
    `customResources: ${kubernetesKind}: deployPriority '${text}' is neither a whole number nor one of ${names}`,
  );
}
