import * as z from 'zod';
import { denyAccount } from '#access/authorization.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import type { ApiRequest, ApiResponse } from '#http/api-handler.ts';
import { parseWith } from '#settings/coerce.ts';
import type { OperatorServices } from '../services/operators.ts';
import { closeConnections } from './agent-session.ts';
import { getSessions } from './agent-views.ts';

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
 * Ends the sessions of an agent: its tokens prove nothing from then on. It may prove itself again, and open another one.
 *
 * @throws InvalidInputError naming the field; NotFoundError where it has none, or none of an account that the caller may read;
 *   AccessDeniedError unless he may write to each account of them
 */
export async function disconnectAgent(request: ApiRequest, services: OperatorServices): Promise<ApiResponse> {
  const { origin } = parseWith(disconnectSchema, request.parseJson(), '');
  const sessions = await getSessions(request, services);
  const [{ agentId }] = sessions;
  const names = [...new Set(sessions.flatMap(({ accounts }) => accounts.map(({ name }) => name)))];
  request.audit({ action: 'changeAgent', name: agentId, account: names[0] ?? '', accounts: names });
  const mayChange = await request.access.openAccountFilter('WRITE');
  const denied = names.find((name) => !mayChange(name));
  if (denied !== undefined) throw denyAccount(denied, 'WRITE');
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

/** Has the agents of all accounts that the caller may read ask again what they are granted. */
export async function refreshAssignments(
  request: ApiRequest,
  services: OperatorServices,
): Promise<ApiResponse> {
  return tellAll(request, services, 'ACCOUNTS');
}

/** Has the agents of all accounts that the caller may read ask for operations that are not begun. */
export async function offerOperations(request: ApiRequest, services: OperatorServices): Promise<ApiResponse> {
  return tellAll(request, services, 'TASK');
}

async function tellAll(
  { access }: ApiRequest,
  { providers, hints }: OperatorServices,
  kind: 'ACCOUNTS' | 'TASK',
): Promise<ApiResponse> {
  const mayShow = await access.openAccountFilter();
  const accounts = providers.accounts.filter(
    ({ name, agentHome }) => agentHome !== undefined && mayShow(name),
  );
  await mapConcurrently(accounts, concurrency, async ({ name }) =>
    hints?.send({ kind, account: name, id: '' }),
  );
  return { status: 202, body: JSON.stringify({ accounts: accounts.length }) };
}
