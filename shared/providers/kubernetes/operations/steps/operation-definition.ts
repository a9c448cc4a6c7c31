import { InvalidInputError } from '#core/errors.ts';
import { asString, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  type Field,
  objectField,
  parseWith,
  requireField,
  stringField,
  withDefault,
} from '#settings/coerce.ts';
import type { Operation, OperationRun, PreparedOperation } from '#tasks/operation.ts';
import type { KubernetesAccount } from '../../account/account.ts';
import { checkNamespace, describeClosedKind, isNamespaceKind } from '../../account/account-bounds.ts';
import { boundToAccount } from '../../account/bounded-client.ts';
import type { KubernetesSession } from '../../account/session.ts';
import type { KubernetesClient } from '../../api/client.ts';
import { findNamespaceProblem, findTextProblem } from '../../api/names.ts';
import type { Coordinates } from '../../manifest/identity.ts';
import { listApplications } from './applications.ts';
import { runTracked, type TrackedClient } from './track-writes.ts';

/** One operation, without accounts and sessions. */
export interface OperationFields<D extends object> {
  /** Name in the request: `deployManifest`. */
  readonly name: string;
  /** What it does, in a few words without a subject, for the documentation: `creates or changes objects`. */
  readonly purpose: string;
  /** Clouddriver's class name: `KubernetesDeployManifestOperation`. */
  readonly operationClass: string;
  /** Tag of its history lines: `DEPLOY_KUBERNETES_MANIFEST`. */
  readonly phase: string;
  /** Clouddriver's name of the description, which begins its validation errors: `deployKubernetesManifest`. */
  readonly context: string;
  /** Its fields; the account is read in the same way for all operations. */
  readonly schema: Field<D | undefined>;
  /** Reports what is wrong with a description as far as is known without a call. */
  validate(description: D, validation: Validation): void;
  /** Runs it; see `PreparedOperation.run`. */
  run(description: D, work: OperationWork): Promise<object | undefined>;
}

/** An operation in the list of operations. */
export interface OperationDefinition extends Pick<OperationFields<object>, 'name' | 'purpose'> {
  /** Reads its fields; the API's document describes them from it. */
  readonly schema: Field<object | undefined>;
  /** See `Operation.prepare`. */
  prepare(description: JsonObject, session: KubernetesSession): PreparedOperation;
}

/** Collects what is wrong with a description, to report all of it at once. */
export interface Validation {
  readonly account: KubernetesAccount;
  /** An attribute is wrong in a way that Clouddriver has a code for: `moniker` is `empty`. */
  reject(attribute: string, code: string): void;
  /** Runs a rule of ours; an InvalidInputError that it throws is added to the list. */
  check(rule: () => void): void;
  /**
   * Rejects a namespace that the account may not use, and an invalid name; none, or an empty one, is fine.
   *
   * @param namespace as it was sent, of any type.
   * @param field its path in the description, for messages.
   */
  checkNamespace(namespace: JsonValue | undefined, field: string): void;
  /**
   * Rejects an object that the account may not use, as far as is known without a call: by its namespace, or by its kind if that is
   * cluster-scoped. A Namespace counts as itself.
   *
   * @param field path of its namespace in the description, for messages.
   */
  checkPlace(object: Coordinates, field: string): void;
}

/** The tools of an operation. */
export interface OperationWork extends TrackedClient {
  readonly session: KubernetesSession;
  readonly account: KubernetesAccount;
  /** Reaches nothing outside the bounds of the account. */
  readonly client: KubernetesClient;
  readonly run: OperationRun;
}

const accountSchema = requireField(
  objectField({
    account: withDefault(stringField(), ''),
    credentials: withDefault(stringField(), ''),
  }),
);

/** Creates an operation from its parts: parsing, the account, Clouddriver's form of errors and the client are the same for all. */
export function defineOperation<D extends object>(fields: OperationFields<D>): OperationDefinition {
  const { name, purpose, operationClass, phase, schema } = fields;
  return {
    name,
    purpose,
    schema,
    prepare(input, session) {
      const account = getAccount(input, fields, session);
      const description = parseWith(requireField(schema), input, name);
      validate(description, fields, account);
      return {
        account: account.name,
        applications: listApplications(input, description),
        operationClass,
        phase,
        run: (run) =>
          runTracked(
            { session, account },
            async () => ({
              session,
              account,
              run,
              client: boundToAccount((await session.getClient(account)).persistent, account),
            }),
            (work) => fields.run(description, work),
          ),
      };
    },
  };
}

/** The operation for the accounts of a session. */
export function bindOperation({ name, prepare }: OperationDefinition, session: KubernetesSession): Operation {
  return { name, prepare: (description) => prepare(description, session) };
}

/** The name of the account that a description is about: `account` or, if that is empty, the older `credentials`. */
export function readAccountName(input: JsonObject, operation: string): string {
  const { account, credentials } = parseWith(accountSchema, input, operation);
  return account || credentials;
}

function getAccount(
  input: JsonObject,
  { name, context }: Pick<OperationFields<object>, 'name' | 'context'>,
  session: KubernetesSession,
): KubernetesAccount {
  const accountName = readAccountName(input, name);
  if (accountName === '') throw new InvalidInputError(formatCode(context, 'account', 'empty'));
  const account = session.findAccount(accountName);
  if (account !== undefined) return account;
  const known = session.accounts.map((each) => each.name).toSorted();
  throw new InvalidInputError(
    `${name}: there is no Kubernetes account '${accountName}'; there are: ${known.join(', ') || 'none'}`,
  );
}

/** @throws InvalidInputError with everything that is wrong. */
function validate<D extends object>(
  description: D,
  fields: Pick<OperationFields<D>, 'name' | 'context' | 'validate'>,
  account: KubernetesAccount,
): void {
  const errors = new Set<string>();
  let omitted = 0;
  const reject = (attribute: string, code: string): void => {
    errors.add(formatCode(fields.context, attribute, code));
  };
  const useNamespace = (given: JsonValue | undefined, field: string): void => {
    const namespace = asString(given) ?? '';
    const problem = findTextProblem(given, findNamespaceProblem);
    if (problem !== undefined) errors.add(`${fields.name}: ${field}: ${problem}`);
    else for (const code of checkNamespace(account, namespace)) reject(namespace, code);
  };
  fields.validate(description, {
    account,
    reject,
    check(rule) {
      try {
        rule();
      } catch (error) {
        if (!(error instanceof InvalidInputError)) throw error;
        for (const message of error.told) errors.add(message);
        omitted += error.omitted;
      }
    },
    checkNamespace: useNamespace,
    checkPlace({ kind, namespace, name }, field) {
      useNamespace(namespace, field);
      const definition = account.kindRegistry.find(kind);
      if (!definition.known || definition.namespaced) return;
      if (!account.clusterScopedKinds) errors.add(describeClosedKind(kind));
      else if (isNamespaceKind(kind)) {
        for (const code of checkNamespace(account, name)) reject(name, code);
      }
    },
  });
  if (errors.size > 0) throw new InvalidInputError([...errors], { omitted });
}

/** Clouddriver writes the context twice; callers match its end. */
function formatCode(context: string, attribute: string, code: string): string {
  return `${context}.${context}.${attribute}.${code}`;
}
