import type { Deployment } from '#test/support/system/deployed-system.ts';
import { callRest } from './aws-calls.ts';

/** Stops a function, as an operator does in need: nothing invokes it any more. Disposing lets it run as before. */
export async function stopFunction(
  { endpoint, name }: Deployment,
  functionName: string,
): Promise<AsyncDisposable> {
  const path = (version: string) => `/${version}/functions/${name}-${functionName}/concurrency`;
  const before = await callRest(endpoint, { service: 'lambda', method: 'GET', path: path('2019-09-30') });
  const limit = async (input: object) => {
    await callRest(endpoint, { service: 'lambda', method: 'PUT', path: path('2017-10-31'), input });
  };
  const { ReservedConcurrentExecutions = 1 } = Object(before);
  await limit({ ReservedConcurrentExecutions: 0 });
  return { [Symbol.asyncDispose]: () => limit({ ReservedConcurrentExecutions }) };
}
