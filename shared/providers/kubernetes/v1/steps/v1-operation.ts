import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { parseWith, requireField } from '#settings/coerce.ts';
import type { OperationRun } from '#tasks/operation.ts';
import type { KubernetesV1Account } from '../../account/account.ts';
import { boundToAccount } from '../../account/bounded-client.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { loadV1Namespaces } from '../../account/v1-namespaces.ts';
import type { KubernetesClient } from '../../api/client.ts';
import {
  type OperationDefinition,
  type OperationFields,
  readAccountName,
} from '../../operations/steps/operation-definition.ts';
import { runTracked, type TrackedClient } from '../../operations/steps/track-writes.ts';
import { AttributeRules } from '../descriptions/attribute-rules.ts';
import { listV1Applications } from '../naming/applications.ts';

/** One operation of V1 accounts, without accounts and sessions. */
interface V1OperationFields<D extends object>
  extends Pick<OperationFields<D>, 'name' | 'purpose' | 'operationClass' | 'phase' | 'schema'> {
  /** Clouddriver's name of the description, which begins its validation errors. Default: that of the class, with `Description`. */
  readonly prefix?: string;
  /** The account that a description says to read from; empty or undefined for its own account. */
  findSourceAccount?(description: D): string | undefined;
  /** Reports what is wrong with a description as far as is known without a call. */
  check(description: D, rules: AttributeRules): void;
  /** Runs it; see `PreparedOperation.run`. */
  run(description: D, work: V1Work): Promise<object | undefined>;
}

/** An operation in the list of V1 operations. */
export interface V1OperationDefinition extends OperationDefinition {
  /** Name of its description in the API's document: Clouddriver's name. */
  readonly title: string;
}

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

/** Creates an operation from its parts: parsing, the account, Clouddriver's form of errors and the client are the same for all. */
export function defineV1Operation<D extends object>(fields: V1OperationFields<D>): V1OperationDefinition {
  const { name, purpose, operationClass, phase, schema } = fields;
  const { prefix = `${operationClass.charAt(0).toLowerCase()}${operationClass.slice(1)}Description` } =
    fields;
  return {
    name,
    purpose,
    title: `${prefix.charAt(0).toUpperCase()}${prefix.slice(1)}`,
    schema,
    prepare(input, session) {
      const account = getV1Account(input, { name, prefix }, session);
      const description = parseWith(requireField(schema), input, name);
      const source = findSource(fields.findSourceAccount?.(description), account, session);
      const rules = new AttributeRules(prefix, account.namespaces, source?.namespaces);
      if (source === undefined) rules.reject('source.account', 'notFound');
      fields.check(description, rules);
      if (rules.errors.length > 0) throw new InvalidInputError(rules.errors);
      return {
        account: account.name,
        ...(source !== undefined && source !== account && { sourceAccount: source.name }),
        applications: listV1Applications(description),
        operationClass,
        phase,
        run: (run) =>
          runTracked(
            { session, account },
            () => openWork({ account, source: source ?? account }, session, run),
            (work) => fields.run(description, work),
          ),
      };
    },
  };
}

/** The work of an operation as part of another one: its lines carry the given phase. */
export function inPhase(work: V1Work, phase: string): V1Work {
  const { run } = work;
  return {
    ...work,
    run: {
      signal: run.signal,
      report: (status, own = phase) => run.report(status, own),
      output: (output) => run.output(output),
      step: (key, act) => run.step(key, act),
      decide: (key, choose) => run.decide(key, choose),
      recall: (key) => run.recall(key),
      waitUntil: (key, look, wait) => run.waitUntil(key, look, { phase, ...wait }),
    },
  };
}

/** @throws InvalidInputError; if the account is wrong, nothing else is checked, as in Clouddriver. */
function getV1Account(
  input: JsonObject,
  { name, prefix }: { readonly name: string; readonly prefix: string },
  session: KubernetesSession,
): KubernetesV1Account {
  const accountName = readAccountName(input, name);
  const account = session.findV1Account(accountName);
  if (account !== undefined) return account;
  throw new InvalidInputError(`${prefix}.account.${accountName === '' ? 'empty' : 'notFound'}`);
}

/** Undefined for an account other than V1's. */
function findSource(
  name: string | undefined,
  account: KubernetesV1Account,
  session: KubernetesSession,
): KubernetesV1Account | undefined {
  return !name || name === account.name ? account : session.findV1Account(name);
}

async function openWork(
  { account, source }: { readonly account: KubernetesV1Account; readonly source: KubernetesV1Account },
  session: KubernetesSession,
  run: OperationRun,
): Promise<V1Work> {
  const opened = (await session.getClient(account)).persistent;
  const namespaces = await loadV1Namespaces(account, opened, run.signal);
  const client = boundToAccount(opened, { ...account, namespaces });
  const work: V1Work = {
    ...{ session, account, namespaces, client, run },
    openSource: async () => (source === account ? work : openWork({ account: source, source }, session, run)),
  };
  return work;
}
