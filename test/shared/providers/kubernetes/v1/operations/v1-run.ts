import type { Clock } from '#core/clock.ts';
import type { JsonObject } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { emptyRecord, listHistory, runOperation } from '../../operations/task-run.ts';
import { getOperation, openProvider } from '../../provider-setup.ts';

/** Two containers of a description. */
export const containers = [
  { name: 'web', imageDescription: { uri: 'registry.test/web:1' } },
  { name: 'side', imageDescription: { uri: 'registry.test/side:1' } },
];

/**
 * A provider with one V1 account, `old`.
 *
 * @param fields further ones of the account
 * @param clock in place of parts of the machine's
 */
export function openV1(
  kubeconfigFile: string,
  fields: JsonObject = {},
  clock: Partial<Clock> = {},
): Provider & AsyncDisposable {
  const dockerRegistries = [{ accountName: 'hub' }];
  const account = { name: 'old', providerVersion: 'v1', kubeconfigFile, dockerRegistries, ...fields };
  return openProvider([account], { clock });
}

/** Runs an operation with the account `old`, and answers its result and history. */
export async function runV1(provider: Provider, name: string, description: JsonObject) {
  const record = emptyRecord();
  const operation = getOperation(provider, name);
  const result = await runOperation(operation, { account: 'old', ...description }, { record });
  return { result, history: listHistory(record) };
}
