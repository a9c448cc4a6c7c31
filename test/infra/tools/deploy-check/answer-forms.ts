/** What an operation answers. */
export interface RecordedAnswer {
  /** Default 200. */
  readonly status?: number;
  /** JSON or XML, in the form that AWS documents. */
  readonly body: string;
}

/** What a test makes an operation answer: something fixed, something by the request's body, or nothing for ever. */
export type Answerer = RecordedAnswer | ((body: string) => RecordedAnswer) | 'hang';

/** Answers by operation, such as `ec2:DescribeSubnets`. */
export type Answers = { readonly [operation: string]: Answerer };

/** An answer in JSON. */
export function json(value: unknown): RecordedAnswer {
  return { body: JSON.stringify(value) };
}

/** An answer of IAM, CloudFormation, STS or SNS. */
export function query(action: string, value: object): RecordedAnswer {
  const content = toXml({ [`${action}Result`]: value, ResponseMetadata: { RequestId: 1 } }, 'member');
  return { body: `<${action}Response>${content}</${action}Response>` };
}

/** An answer of EC2, which has no element around it. */
export function ec2(action: string, value: object): RecordedAnswer {
  return {
    body: `<${action}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">${toXml(value, 'item')}</${action}Response>`,
  };
}

/** A list has an element for each of its items. */
function toXml(value: unknown, item: string): string {
  if (Array.isArray(value)) return value.map((one) => `<${item}>${toXml(one, item)}</${item}>`).join('');
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([name, one]) => `<${name}>${toXml(one, item)}</${name}>`);
  return members.join('');
}

/** An error of AWS, in the protocol of the operation's service. */
export function fail(operation: string, Code: string, { status = 400, Message = 'it is not so' } = {}) {
  const [service = ''] = operation.split(':');
  if (service === 'ec2')
    return { status, body: `<Response>${toXml({ Errors: { Error: { Code, Message } } }, '')}</Response>` };
  if (['iam', 'cloudformation', 'sts', 'sns'].includes(service))
    return { status, body: `<ErrorResponse>${toXml({ Error: { Code, Message } }, '')}</ErrorResponse>` };
  return { status, body: JSON.stringify({ __type: Code, message: Message }) };
}

/** The refusal of each protocol. */
export function refuse(operation: string): RecordedAnswer {
  const code = operation.startsWith('ec2:') ? 'UnauthorizedOperation' : 'AccessDenied';
  return fail(operation, code, { status: 403 });
}
