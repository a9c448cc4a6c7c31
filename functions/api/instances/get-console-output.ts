import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openProviderContext } from '../../../shared/runtime/provider-context.ts';

/** GET /instances/{account}/{region}/{id}/console: what each container of a pod wrote. */
export const handler = apiHandler(openProviderContext, async function getConsoleOutput(request, context) {
  const account = request.getParameter('account');
  const location = request.getParameter('region');
  const name = request.getParameter('id');
  const reader = context.providers.getJobReader(account);
  return ok({ output: await reader.listConsoleOutput({ account, location, name }) });
});
