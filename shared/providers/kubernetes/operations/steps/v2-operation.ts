import { asString, type JsonValue } from '#core/json.ts';
import type { CloudOperations, NamedOperation } from '#provider-kit/operation-definition.ts';
import { Violations } from '#provider-kit/violations.ts';
import type { OperationRun } from '#tasks/operation.ts';
import type { KubernetesAccount } from '../../account/account.ts';
import { checkNamespace, describeClosedKind, isNamespaceKind } from '../../account/account-bounds.ts';
import { boundToAccount } from '../../account/bounded-client.ts';
import type { KubernetesSession } from '../../account/session.ts';
import type { KubernetesClient } from '../../api/client.ts';
import { findNamespaceProblem, findTextProblem } from '../../api/names.ts';
import type { Coordinates } from '../../manifest/identity.ts';
import { listApplications, listObjects } from './applications.ts';
import { runTracked, type TrackedClient } from './track-writes.ts';

/** The tools of an operation. */
export interface OperationWork extends TrackedClient {
  readonly session: KubernetesSession;
  readonly account: KubernetesAccount;
  /** Reaches nothing outside the bounds of the account. */
  readonly client: KubernetesClient;
  readonly run: OperationRun;
}

/** Collects what is wrong with a description, by the bounds of its account. */
export class Validation extends Violations {
  readonly account: KubernetesAccount;
  readonly #operation: NamedOperation;

  constructor(operation: NamedOperation, account: KubernetesAccount) {
    super();
    this.#operation = operation;
    this.account = account;
  }

  reject(attribute: string, code: string): void {
    this.add(formatViolation(this.#operation.context, attribute, code));
  }

  /**
   * Rejects a namespace that the account may not use, and an invalid name; none, or an empty one, is fine.
   *
   * @param given as it was sent, of any type.
   * @param field its path in the description, for messages.
   */
  checkNamespace(given: JsonValue | undefined, field: string): void {
    const namespace = asString(given) ?? '';
    const problem = findTextProblem(given, findNamespaceProblem);
    if (problem !== undefined) this.add(`${this.#operation.name}: ${field}: ${problem}`);
    else for (const code of checkNamespace(this.account, namespace)) this.reject(namespace, code);
  }

  /**
   * Rejects an object that the account may not use, as far as is known without a call: by its namespace, or by its kind if that is
   * cluster-scoped. A Namespace counts as itself.
   *
   * @param field path of its namespace in the description, for messages.
   */
  checkPlace({ kind, namespace, name }: Coordinates, field: string): void {
    this.checkNamespace(namespace, field);
    const definition = this.account.kindRegistry.find(kind);
    if (!definition.known || definition.namespaced) return;
    if (!this.account.clusterScopedKinds) this.add(describeClosedKind(kind));
    else if (isNamespaceKind(kind)) {
      for (const code of checkNamespace(this.account, name)) this.reject(name, code);
    }
  }
}

/** What operations of V2 accounts have in common. */
export const kubernetesV2: CloudOperations<KubernetesSession, KubernetesAccount, Validation, OperationWork> =
  {
    findAccount: (session, name) => session.findAccount(name),
    describeUnknown(account, operation, session) {
      const known = session.accounts.map(({ name }) => name).toSorted();
      return `${operation}: there is no Kubernetes account '${account}'; there are: ${known.join(', ') || 'none'}`;
    },
    formatViolation,
    openViolations: (operation, account) => new Validation(operation, account),
    listApplications,
    listObjects,
    perform: ({ session, account, run }, act) =>
      runTracked(
        { session, account },
        async () => {
          const client = boundToAccount((await session.getClient(account)).persistent, account);
          return { session, account, run, client };
        },
        act,
      ),
    async rehearse({ session, account, run }, act) {
      const { rehearse } = await import('./rehearse.ts');
      const client = boundToAccount((await session.getClient(account)).persistent, account);
      return rehearse({ session, account, run, client }, act);
    },
  };

/** Clouddriver writes the context twice; callers match its end. */
function formatViolation(context: string, attribute: string, code: string): string {
  return `${context}.${context}.${attribute}.${code}`;
}
