import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { apiHandler, ok } from '../../../shared/runtime/http/api-handler.ts';

/** GET /instances/{account}/{region}/{id}/console: what each container of a pod wrote. */
export const handler = apiHandler(openProviderContext, async function getConsoleOutput(request, context) {
  const account = request.getParameter('account');
  const location = request.getParameter('region');
  const name = request.getParameter('id');
  const reader = context.providers.getJobReader(account);
  return ok({ output: await reader.listConsoleOutput({ account, location, name }) });
});
