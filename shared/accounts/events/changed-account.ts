import type { EventBridgeEvent } from 'aws-lambda';
import { findHintPort } from '#agents/sessions/hint-port.ts';
import type { Clock } from '#core/clock.ts';
import { asJsonObject } from '#core/json.ts';
import type { BaseServices } from '#platform/services/base.ts';
import { definitionEventType } from '../definition-event.ts';

/**
 * Has the agents of an event's account renew their sessions: their grants may have changed. Other events, and homes where agents receive no
 * hints, are ignored. Never rejects because of a hint: a lost one only delays the change until agents renew by themselves.
 *
 * @param event the function's event, after which the account facts were published
 * @param factsAgeMs milliseconds until every function knows the published facts: agents that renew earlier may get their former grants
 */
export async function tellAgentsOfChange(
  { all, clock }: Pick<BaseServices, 'all'> & { readonly clock: Pick<Clock, 'sleep'> },
  event: Pick<EventBridgeEvent<string, unknown>, 'detail-type' | 'detail'>,
  factsAgeMs: number,
): Promise<void> {
  const account = findChangedAccount(event);
  if (account === undefined || findHintPort(all) === undefined) return;
  await clock.sleep(factsAgeMs);
  // Loaded late: most runs of the schedule send no hint.
  const { openHints } = await import('#agents/sessions/hints.ts');
  await openHints(all).send({ kind: 'ACCOUNTS', account, id: '' });
}

function findChangedAccount(event: Parameters<typeof tellAgentsOfChange>[1]): string | undefined {
  if (event['detail-type'] !== definitionEventType) return undefined;
  const name = asJsonObject(event.detail)?.['name'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}
