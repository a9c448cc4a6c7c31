import { expect, test } from 'vitest';
import { openSessionTokens } from '#agents/services/session-tokens.ts';
import { createAgentFinder } from '#infra/server/front-door/proved-agents.ts';
import { openAgentFunctions } from '#test/support/agents/agent-functions.ts';

test('an agent is known by its session once its token was found good, and strangers never are', async () => {
  await using functions = await openAgentFunctions([]);
  const tokens = openSessionTokens(functions.services);
  const token = (await tokens?.sign('session-1'))?.token ?? '';
  const find = createAgentFinder(functions.services);
  expect(await find(`Bearer ${token}`)).toBeUndefined();
  expect(await tokens?.verify(token)).toBe('session-1');
  expect(await find(`Bearer ${token}`)).toBe('session-1');
  expect(await find(`bearer ${token}`)).toBe('session-1');
  for (const other of [undefined, '', token, `Bearer ${token}x`, `Bearer ${'x'.repeat(5_000)}`])
    expect(await find(other)).toBeUndefined();
});
