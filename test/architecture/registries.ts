import { contextOptions } from '../../infra/context-options.ts';
import { formatHelp } from '../../infra/local/cli-options.ts';
import * as metrics from '../../shared/core/metrics.ts';
import { accountOptions } from '../../shared/providers/kubernetes/account/account-fields.ts';
import { builtInKinds } from '../../shared/providers/kubernetes/kinds/index.ts';
import type { KindDefinition } from '../../shared/providers/kubernetes/kinds/kind.ts';
import { getSettledStatus } from '../../shared/providers/kubernetes/kinds/status.ts';
import { operationDefinitions } from '../../shared/providers/kubernetes/operations/index.ts';
import { v1OperationDefinitions } from '../../shared/providers/kubernetes/v1/operations/index.ts';
import { variables } from '../../shared/runtime/config.ts';
import type {
  ArtifactItem,
  KindItem,
  MetricItem,
  OperationItem,
  OptionItem,
  ProviderItem,
  StatusFunctionItem,
  V1OperationFileItem,
  V1OperationItem,
  VariableItem,
  WrittenVariableItem,
} from './additions.ts';
import type { RepositoryTexts } from './repository-texts.ts';

/** The operations that are listed, and those that files define. */
export function listOperations(texts: RepositoryTexts): OperationItem[] {
  const purposes = new Map(operationDefinitions.map(({ name, purpose }) => [name, purpose]));
  const folder = 'shared/providers/kubernetes/operations/';
  return texts
    .list(folder)
    .flatMap((file) =>
      [...texts.read(file).matchAll(/^export const \w+ = defineOperation\(\{\s+name: '(\w+)'/gm)].map(
        ([, name = '']) => ({ name, file, purpose: purposes.get(name) }),
      ),
    );
}

/** The operations of V1 accounts that files define. */
export function listV1OperationFiles(texts: RepositoryTexts): V1OperationFileItem[] {
  const folder = 'shared/providers/kubernetes/v1/operations/';
  return texts.list(folder).flatMap((file) =>
    [...texts.read(file).matchAll(/^export const (\w+) = define\w+\(/gm)].map(([, constant = '']) => ({
      file,
      constant,
    })),
  );
}

/** Those that are listed. */
export function listV1Operations(): V1OperationItem[] {
  return v1OperationDefinitions.map(({ name }) => ({ name }));
}

/** The kinds that Spinnaker knows by itself. */
export function listKinds(): KindItem[] {
  return builtInKinds.map(toKindItem);
}

/** Those with a status of their own. */
export function listStatuses(): KindItem[] {
  return builtInKinds.filter(({ getStatus }) => getStatus !== getSettledStatus).map(toKindItem);
}

function toKindItem({ name, kubernetesKind }: KindDefinition): KindItem {
  return { kind: name, kubernetesKind };
}

/** The functions in files of kinds that tell a status. */
export function listStatusFunctions(texts: RepositoryTexts): StatusFunctionItem[] {
  const used = new Set(builtInKinds.map(({ getStatus }) => getStatus.name));
  return texts
    .list('shared/providers/kubernetes/kinds/')
    .flatMap((file) =>
      [
        ...texts
          .read(file)
          .matchAll(/^export function (get\w+Status)\(manifest: Manifest\): ManifestStatus/gm),
      ].map(([, name = '']) => ({ file, name, isUsed: used.has(name) })),
    );
}

/** The files with accounts of artifacts. */
export function listArtifacts(texts: RepositoryTexts): ArtifactItem[] {
  return texts.list('shared/providers/artifacts/').flatMap((file) => {
    const text = texts.read(file);
    const [, opener] = /^export function (open\w+Sources)\([\s\S]*?\): OpenedSources/m.exec(text) ?? [];
    if (opener === undefined) return [];
    const types = [...text.matchAll(/\btypes(?:: [^=\n]+ =| =|:) \[([^\]]*)\]/g)];
    return [{ file, opener, types: types.flatMap(([, list = '']) => list.match(/[\w*]+\/[\w*]+/g) ?? []) }];
  });
}

/** The providers of the registry. */
export function listProviders(texts: RepositoryTexts): ProviderItem[] {
  const listed = texts.read('shared/providers/index.ts').matchAll(/^ {2}(\w+Plugin),$/gm);
  return [...listed].map(([, plugin = '']) => ({ plugin }));
}

/** The settings of the environment. */
export function listVariables(): VariableItem[] {
  return Object.entries(variables).map(([setting, variable]) => ({ setting, variable }));
}

/** Names of ours in the environment that files of the code write out. */
export function listWrittenVariables(texts: RepositoryTexts): WrittenVariableItem[] {
  const known = new Set<string>(Object.values(variables));
  const files = ['functions/', 'infra/', 'shared/'].flatMap((folder) => texts.list(folder));
  return files.flatMap((file) =>
    [...texts.read(file).matchAll(/\b(BUSDRIVER_[A-Z][A-Z_]*)\b/g)].map(([, variable = '']) => ({
      ...{ file, variable },
      isKnown: known.has(variable),
    })),
  );
}

/** The options of Kubernetes accounts. */
export function listAccountOptions(): OptionItem[] {
  return accountOptions.map((option) => ({ option }));
}

/** The options of `npm start`: `--port`. */
export function listCommandOptions(): OptionItem[] {
  return [...formatHelp().matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option = '']) => ({ option }));
}

/** The options of the stacks. */
export function listStackOptions(): OptionItem[] {
  return contextOptions.map((option) => ({ option }));
}

/** The metrics. */
export function listMetrics(): MetricItem[] {
  return Object.entries(metrics).flatMap(([constant, value]) =>
    findMetricNames(value).map((metric) => ({ constant, metric })),
  );
}

/** The names of metrics in a constant: its own, or those of its members. */
function findMetricNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('metricName' in value) return [String(value.metricName)];
  return Object.values(value).flatMap(findMetricNames);
}
