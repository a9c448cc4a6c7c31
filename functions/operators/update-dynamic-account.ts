import { updateDynamicAccount } from '#agents/http/dynamic-accounts.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openDynamicAccounts } from '#agents/services/agent-accounts.ts';

/** PUT /armory/accounts/dynamic: replaces one of them. */
export const handler = operatorHandler(openDynamicAccounts, updateDynamicAccount);
