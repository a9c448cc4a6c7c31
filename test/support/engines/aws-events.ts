import type { JsonObject } from '#core/json.ts';
import { queues } from '#functions/queues.ts';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import type { AwsEventPattern } from '#provider-kit/declaration.ts';
import { type QueueStore, sendMessages } from './stores.ts';

/** An event as a service of AWS tells it. */
export interface AwsEvent {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: JsonObject;
}

/** Sends an event of the account and region of the local engines to the queues that want it, as rules of EventBridge do where functions are deployed. */
export async function tellAwsEvent(stores: QueueStore, event: AwsEvent): Promise<void> {
  for (const { name, awsEvents = [] } of queues) {
    if (!awsEvents.some((pattern) => matches(event, pattern))) continue;
    const whole = { id: crypto.randomUUID(), account: localAccountId, region: localRegion, ...event };
    await sendMessages(stores, name, [JSON.stringify(whole)]);
  }
}

function matches(event: AwsEvent, { source, detailType, detail }: AwsEventPattern): boolean {
  if (event.source !== source || event['detail-type'] !== detailType) return false;
  return Object.entries(detail).every(([member, values]) => values.includes(String(event.detail[member])));
}
