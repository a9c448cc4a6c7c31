import { InvalidInputError } from '#core/errors.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import type { ViewServices } from '../services/views.ts';
import { getFound } from '../view-set.ts';
import type { Viewed, ViewKey } from '../views.ts';

/** The server groups of these applications, or those of these keys. */
export type ListedServerGroups =
  | { readonly applications: readonly string[] }
  | { readonly keys: readonly ViewKey[] };

/** The server group of a path. @throws NotFoundError where there is none. */
export async function getServerGroup(
  request: ApiRequest,
  { views }: Pick<ViewServices, 'views'>,
): Promise<Viewed> {
  // It has no effect here, but an invalid value is refused.
  request.getFlag('includeDetails', true);
  const account = request.getParameter('account');
  const location = request.getParameter('region');
  const name = request.getParameter('name');
  return getFound(
    await views.findServerGroup({ account, location, name }),
    `Server group not found (account: ${account}, region: ${location}, name: ${name})`,
  );
}

/** What a query selects by `applications` or `ids`. @throws InvalidInputError unless it has one of the two, and valid ids */
export function parseListedServerGroups(request: ApiRequest): ListedServerGroups {
  const applications = request.findQueryList('applications') ?? [];
  const ids = request.findQueryList('ids') ?? [];
  if (applications.length > 0 === ids.length > 0) {
    throw new InvalidInputError("Provide either the parameter 'applications' or 'ids', and not both");
  }
  return applications.length > 0 ? { applications } : { keys: parseKeys(ids) };
}

function parseKeys(ids: readonly string[]): ViewKey[] {
  const parts = ids.map((id) => id.split(':'));
  const wrong = parts.filter(({ length }) => length !== 3).map((each) => each.join(':'));
  if (wrong.length > 0) {
    throw new InvalidInputError(`ids: expected account:region:name, got ${wrong.join(', ')}`);
  }
  return parts.map(([account = '', location = '', name = '']) => ({ account, location, name }));
}
