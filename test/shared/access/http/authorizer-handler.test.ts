import { describe, expect, it } from 'vitest';
import { authorizerHandler } from '#access/http/authorizer-handler.ts';

const methodArn = 'arn:aws:execute-api:us-east-1:123456789012:abcdef1234/live/POST/kubernetes/ops';
const seen: string[] = [];
const handler = authorizerHandler(
  () => 'open sesame',
  async (token, secret) => {
    seen.push(token);
    return token === secret.replace(' ', '-');
  },
);

describe('authorizerHandler', () => {
  it('lets a token that is right call every route, for API Gateway remembers the answer for all of them', async () => {
    const { policyDocument } = await handler({ methodArn, headers: { Authorization: 'Bearer open-sesame' } });
    expect(policyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'execute-api:Invoke',
        Resource: 'arn:aws:execute-api:us-east-1:123456789012:abcdef1234/live/*/*',
      },
    ]);
  });

  it.each(['authorization', 'AUTHORIZATION'])('reads the header %s too', async (name) => {
    await expect(handler({ methodArn, headers: { [name]: 'bearer  open-sesame' } })).resolves.toBeDefined();
  });

  it("answers API Gateway's word for 401 to a token that is wrong", async () => {
    await expect(handler({ methodArn, headers: { Authorization: 'Bearer sesame' } })).rejects.toThrow(
      /^Unauthorized$/,
    );
  });

  it.each([
    ['no headers', null],
    ['no header', {}],
    ['an empty token', { Authorization: 'Bearer ' }],
    ['another scheme', { Authorization: 'Basic open-sesame' }],
    ['more than a token', { Authorization: 'Bearer open-sesame x' }],
  ])('refuses %s without looking at the secret', async (_what, headers) => {
    seen.length = 0;
    await expect(handler({ methodArn, headers })).rejects.toThrow(/^Unauthorized$/);
    expect(seen).toEqual([]);
  });

  it('tells a failure to find out from a refusal', async () => {
    const failing = authorizerHandler(
      () => {
        throw new Error('no secret');
      },
      async () => true,
    );
    await expect(failing({ methodArn, headers: { Authorization: 'Bearer a' } })).rejects.toThrow('no secret');
  });
});
