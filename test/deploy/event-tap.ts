import {
  DeleteRuleCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';

/** A queue with every event of a bus, for tests to read. The emulator knows no rules that write to logs. */
export interface EventTap extends AsyncDisposable {
  readonly queueUrl: string;
}

const tapName = 'test-events';

/** Taps a bus. Disposing takes rule and queue away. */
export async function startEventTap(endpoint: string, EventBusName: string): Promise<EventTap> {
  const options = { ...localClientOptions, endpoint };
  const queues = new SQSClient(options);
  const buses = new EventBridgeClient(options);
  const { QueueUrl = '' } = await queues.send(new CreateQueueCommand({ QueueName: tapName }));
  const EventPattern = JSON.stringify({ source: ['busdriver'] });
  await buses.send(new PutRuleCommand({ Name: tapName, EventBusName, EventPattern }));
  const Arn = `arn:aws:sqs:${localRegion}:${localAccountId}:${tapName}`;
  await buses.send(new PutTargetsCommand({ Rule: tapName, EventBusName, Targets: [{ Id: tapName, Arn }] }));
  return {
    queueUrl: `${endpoint}/${localAccountId}/${tapName}`,
    async [Symbol.asyncDispose]() {
      await buses.send(new RemoveTargetsCommand({ Rule: tapName, EventBusName, Ids: [tapName] }));
      await buses.send(new DeleteRuleCommand({ Name: tapName, EventBusName }));
      await queues.send(new DeleteQueueCommand({ QueueUrl }));
      queues.destroy();
      buses.destroy();
    },
  };
}

/** Takes the events out of the queue of a tap, as texts. */
export async function takeEvents(endpoint: string, QueueUrl: string): Promise<string[]> {
  const client = new SQSClient({ ...localClientOptions, endpoint });
  const taken: string[] = [];
  try {
    for (;;) {
      const request = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 };
      const { Messages = [] } = await client.send(new ReceiveMessageCommand(request));
      if (Messages.length === 0) return taken;
      for (const { Body = '', ReceiptHandle } of Messages) {
        taken.push(Body);
        await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    }
  } finally {
    client.destroy();
  }
}
