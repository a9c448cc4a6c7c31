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

/** The refusal of each protocol. */
export function refuse(operation: string): RecordedAnswer {
  const message = `User: arn:aws:sts::111122223333:assumed-role/reader/me is not authorized to perform: ${operation}`;
  return fail(operation, {
    code: operation.startsWith('ec2:') ? 'UnauthorizedOperation' : 'AccessDenied',
    message,
    status: 403,
  });
}

/** An error of AWS, in the protocol of the operation's service. */
export function fail(
  operation: string,
  {
    code,
    message,
    status = 400,
  }: { readonly code: string; readonly message: string; readonly status?: number },
): RecordedAnswer {
  const [service = ''] = operation.split(':');
  if (service === 'ec2') {
    const body = `<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>1</RequestID></Response>`;
    return { status, body };
  }
  if (['iam', 'cloudformation', 'sts', 'sns', 'route53'].includes(service)) {
    return {
      status,
      body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
    };
  }
  return { status, body: JSON.stringify({ __type: code, message }) };
}
