/**
 * Ids of the providers that have operations, and so the routes of a provider's tasks (`/{cloudProvider}/task/{id}/owner`). They are
 * separate from the plug-ins: functions that read tasks load none of those.
 */
export const operationProviders: readonly string[] = ['kubernetes'];
