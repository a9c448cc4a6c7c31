import type { z } from 'zod';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  type Field,
  objectField,
  parseWith,
  requireField,
  stringField,
  withDefault,
} from '#settings/coerce.ts';
import { type Operation, type OperationRun, type PreparedOperation, toDryRunName } from '#tasks/operation.ts';
import type { Violations } from './violations.ts';

/** One operation, without accounts and sessions. */
export interface OperationFields<D extends object, V extends Violations, W> {
  /** Name in the request: `deployManifest`. */
  readonly name: string;
  /** What it does, in a few words without a subject, for the documentation: `creates or changes objects`. */
  readonly purpose: string;
  /** Clouddriver's class name: `KubernetesDeployManifestOperation`. */
  readonly operationClass: string;
  /** Tag of its history lines: `DEPLOY_KUBERNETES_MANIFEST`. */
  readonly phase: string;
  /** Clouddriver's name of the description, which begins its validation errors. Default: that of the class, with `Description`. */
  readonly context?: string;
  /** Its fields; the account is read in the same way for all operations. */
  readonly schema: Field<D | undefined>;
  /** The account that a description says to read from. Default, and if it is empty or undefined: its own account. */
  findSourceAccount?(description: D): string | undefined;
  /** Reports what is wrong with a description as far as is known without a call. */
  validate(description: D, violations: V): void;
  /** Runs it; see `PreparedOperation.run`. */
  run(description: D, work: W): Promise<object | undefined>;
  /** Whether it can be tried without changing anything: its cloud has `rehearse`. Default: false. */
  readonly hasDryRun?: boolean;
}

/** Whose operation runs. */
export interface OperationSubject<Session, Account> {
  readonly session: Session;
  readonly account: Account;
  /** The account that is read from, often the same one. */
  readonly source: Account;
  readonly run: OperationRun;
}

/** What the operations of a cloud provider have in common. */
export interface CloudOperations<Session, Account extends NamedAccount, V extends Violations, W> {
  findAccount(session: Session, name: string): Account | undefined;
  /** The message about an account that does not exist. Default: its attribute is `notFound`. */
  describeUnknown?(account: string, operation: string, session: Session): string;
  /** The message about a wrong attribute, in Clouddriver's form: `moniker` is `empty`. @param context see `OperationFields.context` */
  formatViolation(context: string, attribute: string, code: string): string;
  /** Begins the validation of a description. @param source undefined while it is not known */
  openViolations(operation: NamedOperation, account: Account, source: Account | undefined): V;
  /** See `PreparedOperation.applications`. @param input the description as it was sent. @param description as parsed */
  listApplications(input: JsonObject, description: object): readonly string[];
  /** See `PreparedOperation.objects`. Default: none. @param description as parsed */
  listObjects?(description: object): readonly string[];
  /** Opens an operation's tools, and runs it with them: its writes are in the cache before this resolves. */
  perform<T>(subject: OperationSubject<Session, Account>, act: (work: W) => Promise<T>): Promise<T>;
  /** Runs an operation with tools that change nothing. @returns what it would change, in the place of its result */
  rehearse?(subject: OperationSubject<Session, Account>, act: (work: W) => Promise<unknown>): Promise<object>;
}

/** An account, as far as every operation knows it. */
interface NamedAccount {
  readonly name: string;
}

/** An operation, as far as its errors name it. */
export interface NamedOperation {
  readonly name: string;
  readonly context: string;
}

/** An operation in the list of operations. */
export interface OperationDefinition<Session> extends NamedOperation {
  readonly purpose: string;
  /** Reads its fields; the API's document describes them from it. */
  readonly schema: Field<object | undefined>;
  /** Whether there is a dry run of it. */
  readonly hasDryRun: boolean;
  /** See `Operation.prepare`. @param isDryRun whether it is to change nothing. Default: false */
  prepare(description: JsonObject, session: Session, isDryRun?: boolean): PreparedOperation;
}

const accountSchema = requireField(
  objectField({
    account: withDefault(stringField(), ''),
    credentials: withDefault(stringField(), ''),
  }),
);

/** Creates an operation from its parts: parsing, the account, Clouddriver's form of errors and the tools are the same for all of a cloud. */
export function defineOperation<
  D extends object,
  Session,
  Account extends NamedAccount,
  V extends Violations,
  W,
>(
  cloud: CloudOperations<Session, Account, V, W>,
  fields: OperationFields<D, V, W>,
): OperationDefinition<Session> {
  const { name, purpose, operationClass, phase, schema } = fields;
  const { context = `${operationClass.charAt(0).toLowerCase()}${operationClass.slice(1)}Description` } =
    fields;
  const named = { name, context };
  return {
    ...named,
    purpose,
    schema,
    hasDryRun: fields.hasDryRun === true && cloud.rehearse !== undefined,
    prepare(input, session, isDryRun = false) {
      const account = getAccount(cloud, named, { session, name: readAccountName(input, name) });
      const description = parseWith(requireField(schema), input, name);
      const sourceName = fields.findSourceAccount?.(description) || account.name;
      const source = sourceName === account.name ? account : cloud.findAccount(session, sourceName);
      const violations = cloud.openViolations(named, account, source);
      if (source === undefined) violations.reject('source.account', 'notFound');
      fields.validate(description, violations);
      violations.throwIfAny();
      return {
        account: account.name,
        ...(source !== undefined && source !== account && { sourceAccount: source.name }),
        applications: cloud.listApplications(input, description),
        objects: cloud.listObjects?.(description) ?? [],
        operationClass,
        phase,
        async run(run) {
          const subject = { session, account, source: source ?? account, run };
          const act = (work: W) => fields.run(description, work);
          return isDryRun ? cloud.rehearse?.(subject, act) : cloud.perform(subject, act);
        },
      };
    },
  };
}

/** The operations for the accounts of a session. */
export function bindOperations<Session>(
  definitions: readonly OperationDefinition<Session>[],
  session: Session,
): readonly Operation[] {
  const bind = ({ name, prepare }: OperationDefinition<Session>, isDryRun: boolean): Operation => ({
    name: isDryRun ? toDryRunName(name) : name,
    prepare: (description) => prepare(description, session, isDryRun),
  });
  const rehearsed = definitions.filter(({ hasDryRun }) => hasDryRun);
  return [...definitions.map((each) => bind(each, false)), ...rehearsed.map((each) => bind(each, true))];
}

/** The name of the account that a description is about: `account` or, if that is empty, the older `credentials`. Empty without both. */
function readAccountName(input: JsonObject, operation: string): string {
  return pickAccountName(parseWith(accountSchema, input, operation));
}

/** The same; empty, too, where neither is a name. */
export function findAccountName(description: JsonObject): string {
  const { success, data } = accountSchema.safeParse(description);
  return success ? pickAccountName(data) : '';
}

function pickAccountName({ account, credentials }: z.output<typeof accountSchema>): string {
  return account || credentials;
}

/** @throws InvalidInputError; if the account is wrong, nothing else is checked, as in Clouddriver. */
function getAccount<Session, Account extends NamedAccount, V extends Violations, W>(
  cloud: CloudOperations<Session, Account, V, W>,
  { name: operation, context }: NamedOperation,
  { session, name }: { readonly session: Session; readonly name: string },
): Account {
  const account = cloud.findAccount(session, name);
  if (account !== undefined) return account;
  const wrong = (code: string) => cloud.formatViolation(context, 'account', code);
  if (name === '') throw new InvalidInputError(wrong('empty'));
  throw new InvalidInputError(cloud.describeUnknown?.(name, operation, session) ?? wrong('notFound'));
}

/** The run of an operation as a part of another one: its lines have the given phase. */
export function inPhase(run: OperationRun, phase: string): OperationRun {
  return {
    signal: run.signal,
    report: (status, own = phase) => run.report(status, own),
    output: (output) => run.output(output),
    addResult: (result) => run.addResult(result),
    listEarlierResults: () => run.listEarlierResults(),
    step: (key, act) => run.step(key, act),
    decide: (key, choose) => run.decide(key, choose),
    recall: (key) => run.recall(key),
    waitUntil: (key, look, wait) => run.waitUntil(key, look, { phase, ...wait }),
  };
}
