import { parseServerGroupName } from '#core/frigga.ts';
import { asJsonArray, asString, getPath } from '#core/json.ts';

/** The fields with names of what an operation changes. */
const nameFields = ['serverGroupName', 'loadBalancerName', 'name', 'securityGroupName', 'jobName'];

/**
 * The applications of what a parsed description changes, each once: its `application`, of which names are made; else those of the names in
 * it, a clone's source among them.
 */
export function listV1Applications(description: object): readonly string[] {
  const application = asString(getPath(description, 'application'));
  if (application) return [application];
  const names = [
    ...nameFields.flatMap((field) => [getPath(description, field), getPath(description, 'source', field)]),
    ...['instanceIds', 'loadBalancerNames'].flatMap((field) => asJsonArray(getPath(description, field))),
  ];
  const found = names.flatMap((name) => parseServerGroupName(asString(name) ?? '').app ?? []);
  return [...new Set(found)];
}
