import { getDynamicAccount } from '#agents/http/dynamic-account-views.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openAgentAccounts } from '#agents/services/agent-accounts.ts';

/** GET /armory/accounts/{account}: an account that agents serve. */
export const handler = operatorHandler(openAgentAccounts, getDynamicAccount);
