import type { CloudOperations, OperationSubject } from '#provider-kit/operation-definition.ts';
import type { OperationRun } from '#tasks/operation.ts';
import type { KubernetesV1Account } from '../../account/account.ts';
import { boundToAccount } from '../../account/bounded-client.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { loadV1Namespaces } from '../../account/v1-namespaces.ts';
import type { KubernetesClient } from '../../api/client.ts';
import { runTracked, type TrackedClient } from '../../operations/steps/track-writes.ts';
import { AttributeRules, formatCode } from '../descriptions/attribute-rules.ts';
import { listV1Applications } from '../naming/applications.ts';

/** The tools of a V1 account's operation. */
export interface V1Work extends TrackedClient {
  readonly session: KubernetesSession;
  readonly account: KubernetesV1Account;
  /** The namespaces that the account may use; empty for all. */
  readonly namespaces: readonly string[];
  /** Reaches nothing outside these namespaces. */
  readonly client: KubernetesClient;
  readonly run: OperationRun;
  /** The same for the account that is read from, which may be the same one. */
  openSource(): Promise<V1Work>;
}

/** What operations of V1 accounts have in common. */
export const kubernetesV1: CloudOperations<KubernetesSession, KubernetesV1Account, AttributeRules, V1Work> = {
  findAccount: (session, name) => session.findV1Account(name),
  formatViolation: formatCode,
  openViolations: ({ context }, account, source) =>
    new AttributeRules(context, account.namespaces, source?.namespaces),
  listApplications: (_, description) => listV1Applications(description),
  perform: (subject, act) => runTracked(subject, () => openWork(subject), act),
};

async function openWork({
  session,
  account,
  source,
  run,
}: OperationSubject<KubernetesSession, KubernetesV1Account>): Promise<V1Work> {
  const opened = (await session.getClient(account)).persistent;
  const namespaces = await loadV1Namespaces(account, opened, run.signal);
  const client = boundToAccount(opened, { ...account, namespaces });
  const work: V1Work = {
    ...{ session, account, namespaces, client, run },
    openSource: async () => (source === account ? work : openWork({ session, account: source, source, run })),
  };
  return work;
}
