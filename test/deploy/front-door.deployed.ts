import { describe, expect, it } from 'vitest';
import { getDeployment } from '#test/support/system/deployed-system.ts';
import { checkResponse } from '#test/support/system/validate-answer.ts';

/** What API Gateway and the authorizer answer before any function of a route is asked. */
describe('the front door', () => {
  const { url } = getDeployment();

  it.each([
    ['GET', '/nowhere'],
    ['GET', '/kubernetes/ops'],
    ['PUT', '/task/abc'],
  ])("answers %s %s, which is no route, with Clouddriver's error body", async (method, path) => {
    const response = await checkResponse(await fetch(new URL(path, url), { method }), { method });

    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/json;charset=UTF-8');
    expect(await response.json()).toEqual({
      timestamp: expect.any(String),
      status: 404,
      error: 'Not Found',
      message: 'No route for this method and path',
    });
  });

  it.each(['Bearer wrong', 'Basic dGVzdDp0ZXN0', 'Bearer'])(
    'refuses who sends %j for the secret',
    async (authorization) => {
      const response = await checkResponse(
        await fetch(new URL('/credentials', url), { headers: { authorization } }),
      );

      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ status: 401, error: 'Unauthorized' });
    },
  );

  it('takes the shared secret', async () => {
    const { sharedSecret } = getDeployment();
    const headers = { authorization: `Bearer ${sharedSecret}` };

    expect((await fetch(new URL('/credentials', url), { headers })).status).toBe(200);
  });
});
