import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { startSystem } from '#test/support/system/system.ts';

test('what is no option of an account is dropped, as Clouddriver does, but refused among permissions', async () => {
  await using system = await startSystem({ settings: {} });
  const send = async (method: string, path: string, body?: JsonObject) => {
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await system.fetch(path, init);
    return { status: response.status, body: await response.json() };
  };
  const customResources = [{ kubernetesKind: 'A.b' }];
  const body = { type: 'kubernetes', name: 'kept', kubeconfigSecret: 'clusters/kept', customResources };
  const given = {
    namspaces: ['web'],
    warnings: ['of before'],
    customResources: [{ kubernetesKind: 'A.b', x: 1 }],
  };
  expect(await send('POST', '/credentials', { ...body, ...given })).toEqual({ status: 200, body });
  expect(await send('GET', '/credentials/type/kubernetes')).toEqual({ status: 200, body: [body] });
  expect(system.stderr).toContain("namspaces: unknown, and of no effect: did you mean 'namespaces'?");
  for (const [key, value, error] of [
    ['permissions', { WRIET: 'a' }, 'permissions.WRIET: expected one of READ, WRITE, EXECUTE, CREATE'],
    ['permision', { WRITE: 'a' }, 'permision: unknown, and too much like one of permissions, '],
  ] as const) {
    const refused = await send('PUT', '/credentials', { ...body, [key]: { ...value } });
    expect(refused).toMatchObject({ status: 400, body: { errors: [expect.stringContaining(error)] } });
  }
  // Of a type that is not stored there is none.
  expect(await send('GET', '/credentials/type/aws')).toEqual({ status: 200, body: [] });
});
