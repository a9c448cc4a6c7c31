import { isJsonObject, type JsonObject } from '#core/json.ts';

/** An event of an AWS service, as EventBridge delivers it. */
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

/** The event in a message's body; undefined when it is none of an AWS service. */
export function parseAwsEvent(body: unknown): AwsEvent | undefined {
  if (!isJsonObject(body)) return undefined;
  const { source, account, region, detail, 'detail-type': detailType } = body;
  if (typeof source !== 'string' || !source.startsWith('aws.') || typeof detailType !== 'string')
    return undefined;
  if (typeof account !== 'string' || typeof region !== 'string' || !isJsonObject(detail)) return undefined;
  return { source, detailType, account, region, detail };
}
