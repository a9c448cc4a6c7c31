import * as z from 'zod';
import { mapConcurrently } from '../../core/concurrency.ts';
import { parseWith } from '../../core/settings/coerce.ts';
import type { OperatorServices } from '../services/operators.ts';
import { closeConnections } from './agent-session.ts';
import { getSessions } from './agent-views.ts';
import type { ApiRequest, ApiResponse } from './api-handler.ts';

/** Sessions that are closed at a time. */
const concurrency = 8;

const text = z.string().max(253);

/** Why an agent is to be disconnected. Nothing goes by it but the log. */
const disconnectSchema = z.object({
  origin: text.nullish(),
  clusterDriven: z.boolean().nullish(),
  timestamp: z.union([text, z.number()]).nullish(),
});

/**
 * Ends the sessions of an agent: its tokens prove nothing from then on. It may prove itself anew, and open another one.
 *
 * @throws InvalidInputError naming the field; NotFoundError where it has none
 */
export async function disconnectAgent(request: ApiRequest, services: OperatorServices): Promise<ApiResponse> {
  const { origin } = parseWith(disconnectSchema, request.parseJson(), '');
  const sessions = await getSessions(request, services);
  const [{ agentId, accounts }] = sessions;
  const names = accounts.map(({ name }) => name);
  request.audit({ action: 'changeAgent', name: agentId, account: names[0] ?? '', accounts: names });
  await mapConcurrently(sessions, concurrency, async (session) => {
    await services.sessions.close(session.id);
    await closeConnections(services, session);
  });
  services.log.info('an agent was disconnected', {
    agentId,
    sessions: sessions.length,
    origin: origin ?? '',
  });
  return { status: 202, body: JSON.stringify({ agentId, sessions: sessions.length }) };
}

/** Has the agents of all accounts ask anew what they are granted. */
export async function refreshAssignments(services: OperatorServices): Promise<ApiResponse> {
  return tellAll(services, 'ACCOUNTS');
}

/** Has the agents of all accounts ask for operations that nobody has begun. */
export async function offerOperations(services: OperatorServices): Promise<ApiResponse> {
  return tellAll(services, 'TASK');
}

async function tellAll(
  { providers, hints }: OperatorServices,
  kind: 'ACCOUNTS' | 'TASK',
): Promise<ApiResponse> {
  const accounts = providers.accounts.filter(({ agentHome }) => agentHome !== undefined);
  await mapConcurrently(accounts, concurrency, async ({ name }) =>
    hints?.send({ kind, account: name, id: '' }),
  );
  return { status: 202, body: JSON.stringify({ accounts: accounts.length }) };
}
