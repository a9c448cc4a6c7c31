import { forEachConcurrently } from '#core/concurrency.ts';
import type { OperatorServices } from './operators.ts';

/** Sessions whose end is sent at most, the newest first, and how many at a time. */
const toldMax = 50;
const hintsAtOnce = 8;

/** Ends the sessions of an account. That their agents hear of it at once only spares them a call that is refused. */
export async function endSessions(
  { sessions, hints }: Pick<OperatorServices, 'sessions' | 'hints'>,
  account: string,
): Promise<void> {
  const ids = await sessions.closeAllOf(account);
  await forEachConcurrently(ids.slice(0, toldMax), hintsAtOnce, async (id) =>
    hints?.send({ kind: 'CLOSE', account, id }),
  );
}
