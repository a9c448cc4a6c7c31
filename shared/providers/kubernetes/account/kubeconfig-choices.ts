import type { RejectedAccount } from '#accounts/model/account.ts';
import { asJsonObject, asString, type JsonObject, type JsonValue } from '#core/json.ts';
import type { InspectOptions, SettingsInspector } from '#provider-kit/provider.ts';
import { isSecretReference } from '#settings/secret-reference.ts';
import { findMember, getSetting } from '#settings/spring-config.ts';
import {
  type KubeconfigChoice,
  KubeconfigChoiceError,
  parseKubeconfigContext,
} from '../credentials/kubeconfig.ts';
import { toKubeconfigPath } from '../credentials/kubeconfig-file.ts';
import { WatchedFiles } from '../credentials/watched-files.ts';
import { findEntryName } from './account.ts';

/** Accounts whose kubeconfigs are inspected; problems of the others are reported when they are used. */
export const inspectedAccountsMax = 500;

/** What an account chooses from which kubeconfig. */
interface Choice extends KubeconfigChoice {
  /** The account's path. */
  readonly at: string;
  /** The name under which it is rejected. */
  readonly name: string;
  readonly file: string | undefined;
  readonly contents: string | undefined;
}

/** The result of looking for an account's choice in a text. */
interface Verdict {
  readonly text: string;
  readonly reason: string | undefined;
}

/**
 * Checks that kubeconfigs have the `user` and `cluster` that accounts name in place of the context's, before any cluster is called.
 * Unreadable kubeconfigs, and those in secrets, are left to the code that uses them.
 */
export function createKubeconfigInspector(): SettingsInspector {
  let known: ReadonlyMap<string, Verdict> = new Map();
  return {
    async findUnusable(settings, options) {
      const seen = new Map<string, Verdict>();
      const rejected: RejectedAccount[] = [];
      for (const choice of listChoices(settings).slice(0, inspectedAccountsMax)) {
        const text = await readText(choice, options);
        if (text === undefined) continue;
        const { at, contents: _, ...chosen } = choice;
        const key = JSON.stringify([at, chosen]);
        const before = known.get(key);
        const reason = before?.text === text ? before.reason : findReason(choice, text);
        seen.set(key, { text, reason });
        if (reason !== undefined) rejected.push({ name: choice.name, reason });
      }
      known = seen;
      return rejected;
    },
  };
}

/** The accounts that name a user or a cluster of a kubeconfig that can be inspected. */
function listChoices(settings: JsonObject): readonly Choice[] {
  const list = getSetting(settings, 'kubernetes.accounts');
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry, index) => toChoice(entry, `kubernetes.accounts[${index}]`) ?? []);
}

function toChoice(entry: JsonValue, at: string): Choice | undefined {
  const account = asJsonObject(entry);
  if (account === undefined) return undefined;
  const read = (key: string) => asString(findMember(account, key)) || undefined;
  const [user, cluster, context] = [read('user'), read('cluster'), read('context')];
  if (user === undefined && cluster === undefined) return undefined;
  const [file, contents] = [read('kubeconfigFile'), read('kubeconfigContents')];
  const isElsewhere =
    ['kubeconfigSecret', 'eks', 'server'].some((key) => findMember(account, key)) ||
    isSecretReference(file ?? contents ?? '');
  if (isElsewhere) return undefined;
  return { at, name: findEntryName(entry) ?? at, user, cluster, context, file, contents };
}

async function readText(
  { file, contents }: Choice,
  { placement, environment }: InspectOptions,
): Promise<string | undefined> {
  if (file === undefined && contents !== undefined) return contents;
  if (placement === 'deployed') return undefined;
  return new WatchedFiles().read(toKubeconfigPath(file, environment)).catch(() => undefined);
}

function findReason(choice: Choice, text: string): string | undefined {
  try {
    parseKubeconfigContext(text, choice);
    return undefined;
  } catch (error) {
    return error instanceof KubeconfigChoiceError
      ? `${choice.at}.${error.member}: ${error.message}`
      : undefined;
  }
}
