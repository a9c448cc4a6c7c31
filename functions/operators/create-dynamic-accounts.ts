import { createDynamicAccounts } from '#agents/http/dynamic-accounts.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openDynamicAccounts } from '#agents/services/agent-accounts.ts';

/** POST /armory/accounts/dynamic: creates accounts that agents serve. */
export const handler = operatorHandler(openDynamicAccounts, createDynamicAccounts);
