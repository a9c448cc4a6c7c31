import { AwsError } from '../engine.ts';

/** DynamoDB's refusal of a request that it cannot make sense of. */
export function invalid(message: string): AwsError {
  return new AwsError('ValidationException', message);
}

/** DynamoDB's refusal of a write whose condition does not hold. */
export function conditionFailed(): AwsError {
  return new AwsError('ConditionalCheckFailedException', 'The conditional request failed');
}

/** DynamoDB's refusal of a table that it does not have. */
export function unknownTable(name: unknown): AwsError {
  return new AwsError('ResourceNotFoundException', `Requested resource not found: Table: ${name} not found`);
}
