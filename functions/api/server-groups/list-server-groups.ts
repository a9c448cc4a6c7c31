import { getApplicationOf } from '#access/authorization.ts';
import { parseListedServerGroups } from '#views/http/server-group-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /serverGroups: the server groups of some applications, or those of a list, in short. */
export const handler = viewHandler(
  async function listServerGroups(request, { views }) {
    const listed = parseListedServerGroups(request);
    const { rights } = request.access;
    const mayRead = (application: string): boolean => rights.mayUseApplication(application, 'READ');
    if ('keys' in listed) {
      const { value, accounts } = await views.listServerGroupsByKeys(listed.keys);
      return { value: value.filter((each) => mayRead(getApplicationOf(each))), accounts };
    }
    const cloudProvider = request.findQuery('cloudProvider') || undefined;
    const applications = listed.applications.filter(mayRead);
    return views.selectProvider(cloudProvider).listServerGroups({ applications, expand: false });
  },
  {
    scope(request) {
      const listed = parseListedServerGroups(request);
      return 'keys' in listed ? { accounts: listed.keys.map(({ account }) => account) } : listed;
    },
  },
);
