import type { ResourceView } from '#contract/answers/resources.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts } from '../rows/facts.ts';

/** Spinnaker's id of this provider. */
export const cloudProvider = 'kubernetes';

/** What every view of an object shows. */
export function toResourceView(account: string, facts: ObjectFacts): ResourceView {
  const { kind, apiVersion, namespace, name, labels, moniker, createdTime } = facts;
  return {
    account,
    name: formatFullName(kind, name),
    displayName: name,
    namespace,
    region: namespace,
    kind,
    apiVersion,
    labels,
    moniker,
    createdTime,
  };
}
