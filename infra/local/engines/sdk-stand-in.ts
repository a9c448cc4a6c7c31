/**
 * Stands in for the clients of DynamoDB, SQS and EventBridge in the bundle of `npm start`, which calls its own engines: commands hold
 * their input, and nothing else of the AWS SDK is loaded for them. test/infra/local/sdk-stand-in.test.ts compares it with what is imported.
 */

/** A command of the SDK. */
class Command {
  readonly input: object;

  constructor(input: object) {
    this.input = input;
  }
}

/** A client of the SDK, of which there is none: an installation is given what calls its engines. */
class Client {
  constructor() {
    throw new Error('npm start calls its engines directly: there is no client of the AWS SDK for them');
  }
}

/** Reads several items. */
export class BatchGetItemCommand extends Command {}

/** Deletes an item. */
export class DeleteItemCommand extends Command {}

/** Reads an item. */
export class GetItemCommand extends Command {}

/** Writes an item. */
export class PutItemCommand extends Command {}

/** Reads a partition. */
export class QueryCommand extends Command {}

/** Reads a table. */
export class ScanCommand extends Command {}

/** Changes an item. */
export class UpdateItemCommand extends Command {}

/** Publishes events. */
export class PutEventsCommand extends Command {}

/** Hides a message. */
export class ChangeMessageVisibilityCommand extends Command {}

/** Makes a queue. */
export class CreateQueueCommand extends Command {}

/** Deletes messages. */
export class DeleteMessageBatchCommand extends Command {}

/** Takes messages. */
export class ReceiveMessageCommand extends Command {}

/** Sends messages. */
export class SendMessageBatchCommand extends Command {}

/** Sends a message. */
export class SendMessageCommand extends Command {}

/** A client of DynamoDB. */
export class DynamoDBClient extends Client {}

/** A client of EventBridge. */
export class EventBridgeClient extends Client {}

/** A client of SQS. */
export class SQSClient extends Client {}

/** A write was refused, since its condition does not hold. */
export class ConditionalCheckFailedException extends Error {
  override readonly name = 'ConditionalCheckFailedException';

  constructor({ message }: { readonly message: string }) {
    super(message);
  }
}
