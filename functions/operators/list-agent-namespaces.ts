import { listAgentNamespaces } from '#agents/http/dynamic-account-views.ts';
import { operatorHandler } from '#agents/http/operator-handler.ts';
import { openAgentAccountReads } from '#agents/services/agent-accounts.ts';

/** GET /agents/kubernetes/accounts/{account}/namespaces: the namespaces of an account that agents serve. */
export const handler = operatorHandler(openAgentAccountReads, listAgentNamespaces);
