import type { ConsoleOutputView } from '../../../shared/contract/answers/jobs.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';
import { getInstanceReader } from '../../../shared/runtime/http/live-readers.ts';
import { openProviders } from '../../../shared/runtime/services/providers.ts';

/** GET /instances/{account}/{region}/{id}/console: what each container of a pod wrote. */
export const handler = apiHandler(openProviders, async function getConsoleOutput(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('region');
  const name = request.getParameter('id');
  const reader = getInstanceReader(services, account);
  return ok<ConsoleOutputView>({ output: await reader.getConsoleOutput({ account, location, name }) });
});
