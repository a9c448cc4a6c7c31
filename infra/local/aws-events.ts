import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { AwsEventPattern, Queue } from '../../functions/queues.ts';
import { getErrorMessage } from '../../shared/core/errors.ts';
import { isJsonObject } from '../../shared/core/json.ts';
import type { Logger } from '../../shared/core/logger.ts';
import type { EngineClientOptions } from './engine-access.ts';
import type { BusEvent } from './eventbridge-bus.ts';
import { localAccountId } from './local-aws.ts';

/** The bus on which services of AWS tell their events. */
export const awsBusName = 'default';

/** What sends events to queues. */
export interface AwsEventOptions {
  readonly queues: readonly Queue[];
  readonly sqs: EngineClientOptions;
  readonly log: Logger;
}

/** Sends events of AWS' services to the queues that want them, as rules of EventBridge do where functions are deployed. */
export class AwsEventRules implements Disposable {
  readonly #options: AwsEventOptions;
  readonly #client: SQSClient;

  constructor(options: AwsEventOptions) {
    this.#options = options;
    this.#client = new SQSClient(options.sqs);
  }

  /** Takes an event of a bus: of others than that of AWS' services there are no rules. Never throws. */
  take(event: BusEvent, busName: string): void {
    if (busName !== awsBusName) return;
    for (const { name, awsEvents = [] } of this.#options.queues) {
      if (awsEvents.some((pattern) => matches(event, pattern))) void this.#send(name, event);
    }
  }

  async #send(queue: string, event: BusEvent): Promise<void> {
    try {
      const QueueUrl = new URL(`/${localAccountId}/${queue}`, this.#options.sqs.endpoint).href;
      await this.#client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(event) }));
    } catch (error) {
      this.#options.log.error('an event was not sent to its queue', { queue, cause: getErrorMessage(error) });
    }
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }
}

function matches(event: BusEvent, { source, detailType, detail }: AwsEventPattern): boolean {
  const given = event['detail'];
  if (event['source'] !== source || event['detail-type'] !== detailType || !isJsonObject(given)) return false;
  return Object.entries(detail).every(([member, values]) => values.includes(String(given[member])));
}
