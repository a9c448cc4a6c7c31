import type { Moniker } from '../../../core/moniker.ts';
import { formatFullName } from '../kinds/name.ts';
import type { TextMap } from '../manifest/annotations.ts';
import type { ObjectFacts } from '../rows/facts.ts';

/** Spinnaker's id of this provider. */
export const cloudProvider = 'kubernetes';

/** What every view of an object shows. */
export interface ResourceView {
  readonly account: string;
  /** Full name: `replicaSet web-v003`. */
  readonly name: string;
  /** The object's own name. */
  readonly displayName: string;
  readonly namespace: string;
  /** The namespace again. */
  readonly region: string;
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  readonly apiVersion: string;
  readonly labels: TextMap;
  readonly moniker: Moniker;
  /** Epoch milliseconds. */
  readonly createdTime?: number | undefined;
}

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
