import type { EventBridgeEvent } from 'aws-lambda';
import { findHintPort } from '#agents/sessions/hint-port.ts';
import type { Clock } from '#core/clock.ts';
import { asJsonObject } from '#core/json.ts';
import type { BaseServices } from '#platform/services/base.ts';
import { definitionEventType } from '../definition-event.ts';

/**
 * Has the agents of an account renew their sessions that an event tells of: what they are granted may be other. Other events, and homes
 * where agents hear nothing, are passed over. Never rejects for the sake of a hint: one that is lost costs the time until agents renew by
 * themselves.
 *
 * @param event what started the function, after which the account facts were published
 * @param factsAgeMs milliseconds until every function knows what was published: who renews before that may be granted what was before
 */
export async function tellAgentsOfChange(
  { all, clock }: Pick<BaseServices, 'all'> & { readonly clock: Pick<Clock, 'sleep'> },
  event: Pick<EventBridgeEvent<string, unknown>, 'detail-type' | 'detail'>,
  factsAgeMs: number,
): Promise<void> {
  const account = findChangedAccount(event);
  if (account === undefined || findHintPort(all) === undefined) return;
  await clock.sleep(factsAgeMs);
  // Loaded late: most runs of the schedule tell nobody.
  const { openHints } = await import('#agents/sessions/hints.ts');
  await openHints(all).send({ kind: 'ACCOUNTS', account, id: '' });
}

function findChangedAccount(event: Parameters<typeof tellAgentsOfChange>[1]): string | undefined {
  if (event['detail-type'] !== definitionEventType) return undefined;
  const name = asJsonObject(event.detail)?.['name'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}
