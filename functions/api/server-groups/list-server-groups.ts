import { parseListedServerGroups } from '../../../shared/runtime/server-group-request.ts';
import { viewHandler } from '../../../shared/runtime/view-handler.ts';

/** GET /serverGroups: the server groups of some applications, or those of a list, in short. */
export const handler = viewHandler(
  async function listServerGroups(request, { views }) {
    const listed = parseListedServerGroups(request);
    if ('keys' in listed) return views.listServerGroupsByKeys(listed.keys);
    const cloudProvider = request.findQuery('cloudProvider') || undefined;
    return views.selectProvider(cloudProvider).listServerGroups({ ...listed, expand: false });
  },
  {
    scope(request) {
      const listed = parseListedServerGroups(request);
      return 'keys' in listed ? { accounts: listed.keys.map(({ account }) => account) } : listed;
    },
  },
);
