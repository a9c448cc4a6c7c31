import type { V1LabelSelector } from '@kubernetes/client-node';
import { asJsonObject, asString } from '#core/json.ts';
import { labelSelectorsMax } from '#core/request-limits.ts';
import {
  enumField,
  type Field,
  listOf,
  objectField,
  stringField,
  stringListField,
} from '#settings/coerce.ts';
import { readList, type Unchecked } from '../api/unchecked.ts';
import type { TextMap } from './annotations.ts';

/** How a selector compares a label. */
const selectorKinds = [
  'ANY',
  'EQUALS',
  'NOT_EQUALS',
  'CONTAINS',
  'NOT_CONTAINS',
  'EXISTS',
  'NOT_EXISTS',
] as const;

/** `ANY` selects everything; `CONTAINS` means that the label's value is one of the values. */
export type SelectorKind = (typeof selectorKinds)[number];

/** One condition on an object's labels. */
export interface LabelSelector {
  readonly kind: SelectorKind;
  /** The label's key; empty for `ANY`. */
  readonly key: string;
  /** `EQUALS` and `NOT_EQUALS` take one, `CONTAINS` and `NOT_CONTAINS` one or more, the others none. */
  readonly values: readonly string[];
}

/** A label's key: an optional DNS prefix, then up to 63 characters. */
const labelKey = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
/** A label's value: empty, or up to 63 characters. */
const labelValue = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

/**
 * `labelSelectors` of a description: `{selectors: [{kind, key, values}]}`, absent and null meaning none. Keys and values must be what
 * Kubernetes accepts, so that none can alter the selection that contains it.
 */
export function labelSelectorsField(): Field<readonly LabelSelector[]> {
  const selector = objectField({
    kind: enumField(selectorKinds),
    key: stringField(),
    values: stringListField({ itemsMax: labelSelectorsMax }),
  });
  return objectField({ selectors: listOf(selector, { itemsMax: labelSelectorsMax }) }).transform(
    (parsed, context) => {
      const selectors = (parsed?.selectors ?? []).map(({ kind, key = '', values = [] }) => ({
        kind,
        key,
        values,
      }));
      for (const [index, each] of selectors.entries()) {
        const problem = findProblem(each);
        if (problem === undefined) continue;
        const path = ['selectors', index, problem.field];
        context.issues.push({ code: 'custom', message: problem.message, input: each, path });
      }
      return selectors.filter((each): each is LabelSelector => each.kind !== undefined);
    },
  );
}

/** The conditions of a workload's own `spec.selector` (`matchLabels`, `matchExpressions`), as the API server keeps it. */
export function readLabelSelector(selector: Unchecked<V1LabelSelector>): readonly LabelSelector[] {
  const kinds: { readonly [operator: string]: SelectorKind } = {
    In: 'CONTAINS',
    NotIn: 'NOT_CONTAINS',
    Exists: 'EXISTS',
    DoesNotExist: 'NOT_EXISTS',
  };
  const labels = Object.entries(asJsonObject(selector?.matchLabels) ?? {});
  const expressions = readList(selector?.matchExpressions);
  return [
    ...labels.map(([key, value]) => ({ kind: 'EQUALS' as const, key, values: [String(value)] })),
    ...expressions.map((expression) => ({
      kind: kinds[asString(expression?.operator) ?? ''] ?? 'ANY',
      key: asString(expression?.key) ?? '',
      values: readList(expression?.values).map(String),
    })),
  ];
}

/** The selection in Kubernetes' syntax, all conditions joined; empty when everything is selected. */
export function formatSelectors(selectors: readonly LabelSelector[]): string {
  return selectors
    .map(formatSelector)
    .filter((condition) => condition !== '')
    .join(',');
}

/** Whether labels meet every condition, as Kubernetes decides it: a missing label differs from any value. */
export function matchesSelectors(selectors: readonly LabelSelector[], labels: TextMap): boolean {
  return selectors.every(({ kind, key, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    const isOneOf = value !== undefined && values.includes(value);
    if (kind === 'EQUALS' || kind === 'CONTAINS') return isOneOf;
    if (kind === 'NOT_EQUALS' || kind === 'NOT_CONTAINS') return !isOneOf;
    if (kind === 'ANY') return true;
    return (kind === 'EXISTS') === (value !== undefined);
  });
}

/** One condition in Kubernetes' syntax. */
function formatSelector({ kind, key, values }: LabelSelector): string {
  const forms: { readonly [kind in SelectorKind]: string } = {
    ANY: '',
    EQUALS: `${key} = ${values[0] ?? ''}`,
    NOT_EQUALS: `${key} != ${values[0] ?? ''}`,
    CONTAINS: `${key} in (${values.join(', ')})`,
    NOT_CONTAINS: `${key} notin (${values.join(', ')})`,
    EXISTS: key,
    NOT_EXISTS: `!${key}`,
  };
  return forms[kind];
}

/** What is wrong with a condition, or undefined if it can be sent to Kubernetes. */
function findProblem(selector: {
  readonly kind: SelectorKind | undefined;
  readonly key: string;
  readonly values: readonly string[];
}): { field: string; message: string } | undefined {
  const { kind, key, values } = selector;
  if (kind === undefined) {
    return { field: 'kind', message: `expected one of ${selectorKinds.join(', ')}, got none` };
  }
  if (kind === 'ANY') return undefined;
  if (key === '') return { field: 'key', message: 'expected the key of a label, got none' };
  if (!labelKey.test(key)) {
    return { field: 'key', message: 'expected the key of a label, got another string (not shown)' };
  }
  if (kind === 'EXISTS' || kind === 'NOT_EXISTS') return undefined;
  if (!values.every((value) => labelValue.test(value))) {
    return { field: 'values', message: 'expected values of a label, got another string (not shown)' };
  }
  if (values.length > 0) return undefined;
  return { field: 'values', message: `expected at least one for ${kind}, got none` };
}
