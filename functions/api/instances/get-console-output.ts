import type { ConsoleOutputView } from '#contract/answers/jobs.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { getInstanceReader } from '#views/http/live-readers.ts';

/** GET /instances/{account}/{region}/{id}/console: what each container of a pod wrote. */
export const handler = apiHandler(openProviders, async function getConsoleOutput(request, services) {
  const account = request.getParameter('account');
  const location = request.getParameter('region');
  const name = request.getParameter('id');
  const reader = await getInstanceReader(services, account);
  return ok<ConsoleOutputView>({ output: await reader.getConsoleOutput({ account, location, name }) });
});
