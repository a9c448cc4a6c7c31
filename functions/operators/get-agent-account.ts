import { getAgentAccountView } from '#agents/http/dynamic-account-views.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openAgentAccounts } from '#agents/services/agent-accounts.ts';

/** GET /agents/kubernetes/accounts/{account}: an account that agents serve, with what they tell of its cluster. */
export const handler = operatorHandler(openAgentAccounts, getAgentAccountView);
