import { expect } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { parseError } from '#http/error-body.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { acceptOperations } from '#tasks/requests/accept-operations.ts';
import { getTaskId } from '#tasks/task-id.ts';
import { type TestedOperation, toRequest } from './operation-run.ts';
import { type InvalidContext, type OperationSpec, specAccounts } from './operation-spec.ts';
import { createTextLog } from './operation-texts.ts';
import { MortalWorker } from './operation-worker.ts';

/** No place has this name: what is refused needs none. */
const place = 'no-such-place';

/** Expects that each wrong context is refused by the one error that its row tells, before anything is stored or called. */
export async function expectRefusals<Place, World>(tested: TestedOperation<Place, World>): Promise<void> {
  const { name, spec, cloud, engines } = tested;
  const worker = new MortalWorker(engines);
  const log = createTextLog().logger;
  await using opened = await cloud.openWorker({ place, watch: worker, log });
  const providers = new ProviderSet([opened.provider]);
  const context = spec.context({ place, plant: (secret) => `planted-${secret}` });
  for (const [index, row] of listRows(spec).entries()) {
    const request = toRequest(cloud.provider, name, {
      ...{ account: specAccounts.everywhere, ...context },
      ...row.change,
    });
    const clientRequestId = `${name} ${index}`;
    const answer = await acceptOperations(worker.system, providers, { ...request, clientRequestId }).then(
      () => ({ status: 200 }),
      (error: unknown) => parseError(error, engines.clock.now()),
    );
    const what = `the answer to ${JSON.stringify(row.change)}`;
    const error = row.error.replaceAll('PLACE', place);
    expect(answer, what).toMatchObject({ status: 400, message: 'Validation Failed', errors: [error] });
    expect(JSON.stringify(answer), what).not.toContain('planted');
    expect(error, what).toContain(row.names.replaceAll('PLACE', place));
    const stored = await engines.store.find(await getTaskId(clientRequestId, engines.randomness));
    expect(stored, `the task of ${JSON.stringify(row.change)}`).toBeUndefined();
  }
  expect(worker.calls).toEqual([]);
}

/** The rows of the specification, and those that all operations have in common. */
function listRows({
  invalid,
  outside,
  outsideNames = 'PLACE',
}: Pick<OperationSpec<unknown, unknown>, 'invalid' | 'outside' | 'outsideNames'>): InvalidContext[] {
  const elsewhere: JsonObject = { account: specAccounts.elsewhere };
  return [...invalid, { change: elsewhere, error: outside, names: outsideNames }];
}
