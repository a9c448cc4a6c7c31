import type { TargetSummaryView } from '#contract/answers/server-groups.ts';
import { NotFoundError } from '#core/errors.ts';
import { getTargetServerGroup } from '#views/http/target-request.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/**
 * GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}/{summaryType}:
 * what that server group runs; `image` is the first of `images`.
 */
export const handler = viewHandler(async function getTargetSummary(request, services) {
  const type = request.getParameter('summaryType');
  const isOne = type.toLowerCase() === 'image';
  if (!isOne && type.toLowerCase() !== 'images') throw new NotFoundError(`Summary not found (type: ${type})`);
  const { value: target, accounts } = await getTargetServerGroup(request, services, {
    validateOldest: false,
  });
  const summary = { serverGroupName: target.displayName ?? target.name, buildInfo: target.buildInfo };
  const value: TargetSummaryView = isOne ? summary : { summaries: [summary] };
  return { value, accounts };
});
