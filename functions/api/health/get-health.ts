import type { HealthAnswer } from '#contract/answers/features.ts';
import { ok, openHandler } from '#http/open-handler.ts';
import { openBase } from '#platform/services/base.ts';

/** GET /health: up as long as functions run; sick accounts do not change it, and no cluster is called. */
export const handler = openHandler(openBase, async function getHealth() {
  return ok<HealthAnswer>({ status: 'UP' });
});
