import { isJsonObject, type JsonObject } from '#core/json.ts';

/** An event of a service of AWS, as EventBridge delivers it. */
export interface AwsEvent {
  /** `aws.ecr` */
  readonly source: string;
  /** `ECR Image Action` */
  readonly detailType: string;
  /** AWS account in which it happened, 12 digits. */
  readonly account: string;
  readonly region: string;
  readonly detail: JsonObject;
}

/** The event that a message's body is; undefined when it is none of a service of AWS. */
export function parseAwsEvent(body: unknown): AwsEvent | undefined {
  if (!isJsonObject(body)) return undefined;
  const { source, account, region, detail, 'detail-type': detailType } = body;
  if (typeof source !== 'string' || !source.startsWith('aws.') || typeof detailType !== 'string')
    return undefined;
  if (typeof account !== 'string' || typeof region !== 'string' || !isJsonObject(detail)) return undefined;
  return { source, detailType, account, region, detail };
}
