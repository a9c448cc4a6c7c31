import { type CloseCode, closeCodes } from '#agents/agent-connections.ts';
import type { Logger } from '#core/logger.ts';
import type { HeldConnection, HintConnections } from './hint-connections.ts';

/** What holding a connection works with. */
export interface HoldOptions {
  readonly connections: HintConnections;
  readonly log: Logger;
  /**
   * Called with each connection, before it counts: the result is disposed of when it ends. Undefined refuses it, as its session is over.
   * Default: no call.
   */
  onConnected?(connection: HeldConnection): Promise<AsyncDisposable | undefined>;
}

/**
 * Sends hints of work to a connection, whatever it is made of, until it has ended.
 *
 * @param ended resolves once it has
 * @returns the code that it is to be closed with, where it is refused
 * @throws what `onConnected` throws
 */
export async function holdConnection(
  connection: HeldConnection,
  ended: Promise<unknown>,
  { connections, log, onConnected }: HoldOptions,
): Promise<CloseCode | undefined> {
  const { agentId, session, transport, accounts } = connection;
  const held = connections.add(connection);
  if (held === undefined) return closeCodes.tryLater;
  const told = Promise.withResolvers<AsyncDisposable | undefined>();
  void ended
    .then(async () => {
      held[Symbol.dispose]();
      await (await told.promise)?.[Symbol.asyncDispose]();
    })
    .catch((error: unknown) => log.warn('a connection could not be removed', { agentId, error }));
  let row: AsyncDisposable | undefined;
  try {
    row = onConnected === undefined ? unnoted : await onConnected(connection);
  } finally {
    told.resolve(row);
  }
  if (row === undefined) return closeCodes.unauthenticated;
  log.info('an agent connected', { agentId, session, transport, accounts: accounts.size });
  return undefined;
}

/** Where nothing is notified of connections. */
const unnoted: AsyncDisposable = { async [Symbol.asyncDispose]() {} };
