import { activateAccounts } from '#agents/http/dynamic-accounts.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openAgentAccounts } from '#agents/services/agent-accounts.ts';

/** PATCH /armory/accounts: lets the agents of accounts in, or shuts them out. */
export const handler = operatorHandler(openAgentAccounts, activateAccounts);
