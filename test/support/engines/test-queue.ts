import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  type QueueAttributeName,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
  type SQSClientConfig,
} from '@aws-sdk/client-sqs';
import { localClientOptions } from './local-aws-client.ts';

/** Attributes of a queue. */
export type QueueSettings = { readonly [name in QueueAttributeName]?: string };

/** A queue under test, and what tests do with it through the AWS SDK. */
export interface TestQueue {
  readonly client: SQSClient;
  readonly url: string;
  readonly name: string;
  send(body: string, options?: Partial<SendMessageCommandInput>): ReturnType<typeof sendMessage>;
  sendBatch(messages: readonly Omit<SendMessageCommandInput, 'QueueUrl'>[]): ReturnType<typeof sendBatch>;
  receive(options?: Partial<ReceiveMessageCommandInput>): Promise<readonly Message[]>;
  delete(message: Message | undefined): Promise<void>;
  hide(message: Message | undefined, seconds: number): Promise<void>;
  count(attribute: QueueAttributeName): Promise<number>;
  getArn(): Promise<string>;
}

/** Creates a queue with a name of its own. */
export async function createQueue(
  endpoint: string,
  settings: QueueSettings,
  clientOptions: SQSClientConfig = localClientOptions,
): Promise<TestQueue> {
  const client = new SQSClient({ ...clientOptions, endpoint });
  const name = `test-${randomUUID()}`;
  const Attributes = settings as { [name: string]: string };
  const { QueueUrl: url = '' } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
  const getAttribute = async (attribute: QueueAttributeName): Promise<string> => {
    const request = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [attribute] });
    return (await client.send(request)).Attributes?.[attribute] ?? '';
  };
  return {
    client,
    url,
    name,
    send: (MessageBody, options) => sendMessage(client, { QueueUrl: url, MessageBody, ...options }),
    sendBatch: (messages) => sendBatch(client, url, messages),
    async receive(options) {
      const request = new ReceiveMessageCommand({ QueueUrl: url, ...options });
      return (await client.send(request)).Messages ?? [];
    },
    async delete(message) {
      await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message?.ReceiptHandle }));
    },
    async hide(message, VisibilityTimeout) {
      const receipt = { QueueUrl: url, ReceiptHandle: message?.ReceiptHandle };
      await client.send(new ChangeMessageVisibilityCommand({ ...receipt, VisibilityTimeout }));
    },
    count: async (attribute) => Number(await getAttribute(attribute)),
    getArn: () => getAttribute('QueueArn'),
  };
}

function sendMessage(client: SQSClient, input: SendMessageCommandInput) {
  return client.send(new SendMessageCommand(input));
}

function sendBatch(
  client: SQSClient,
  QueueUrl: string,
  messages: readonly Omit<SendMessageCommandInput, 'QueueUrl'>[],
) {
  const Entries = messages.map((message, index) => ({ Id: String(index), ...message }));
  return client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
}

/** Entries of a batch request with the receipts of messages. */
export function toEntries(messages: readonly Message[]) {
  return messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
}
