import type { HealthAnswer } from '#contract/answers/features.ts';
import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';
import { createUpstreamState } from '#upstream/services/upstream-state.ts';

/**
 * GET /health: up as long as functions run; sick accounts do not change it, and no cluster is called. It shows whether the Clouddriver
 * behind this one answered last, where this process asked it.
 */
export const handler = openHandler(openBase, async function getHealth(_request, { all }) {
  const { health: upstream } = all.get(createUpstreamState);
  return ok<HealthAnswer>({ status: 'UP', ...(upstream && { details: { upstream } }) });
});
