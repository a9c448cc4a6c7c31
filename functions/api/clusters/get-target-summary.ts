import { NotFoundError } from '../../../shared/core/errors.ts';
import { getPath } from '../../../shared/core/json.ts';
import { getTargetServerGroup } from '../../../shared/runtime/http/target-request.ts';
import { viewHandler } from '../../../shared/runtime/http/view-handler.ts';

/**
 * GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}/{summaryType}:
 * what that server group runs; `image` is the first of `images`.
 */
export const handler = viewHandler(async function getTargetSummary(request, context) {
  const type = request.getParameter('summaryType');
  const isOne = type.toLowerCase() === 'image';
  if (!isOne && type.toLowerCase() !== 'images') throw new NotFoundError(`Summary not found (type: ${type})`);
  const { value, accounts } = await getTargetServerGroup(request, context, { validateOldest: false });
  const summary = {
    serverGroupName: getPath(value, 'displayName'),
    buildInfo: getPath(value, 'buildInfo'),
  };
  return { value: isOne ? summary : { summaries: [summary] }, accounts };
});
