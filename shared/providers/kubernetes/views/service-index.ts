import { getOrAdd } from '#core/get-or-add.ts';
import type { TextMap } from '../manifest/annotations.ts';
import type { ObjectFacts } from '../rows/facts.ts';

/** A label that occurs in a namespace's selectors. */
interface SelectedLabel {
  /** In how many selectors it occurs. */
  count: number;
  /** The services that are filed under it. */
  readonly services: ObjectFacts[];
}

/** The services of one namespace. */
interface NamespaceIndex {
  readonly byName: Map<string, ObjectFacts>;
  /** By a label's key, then its value. */
  readonly labels: Map<string, Map<string, SelectedLabel>>;
}

/**
 * An index of services by the labels of pods: each service is filed under the label of its selector that the fewest others of its namespace
 * share, so that a thousand services do not mean a thousand comparisons for each server group.
 */
export class ServiceIndex {
  readonly #namespaces = new Map<string, NamespaceIndex>();

  constructor(services: readonly ObjectFacts[]) {
    for (const service of services) countLabels(service, getNamespace(this.#namespaces, service.namespace));
    for (const service of services) fileService(service, getNamespace(this.#namespaces, service.namespace));
  }

  /**
   * Adds to `found` the services of the namespace whose whole selector the labels contain, each once. One without a selector selects
   * nothing.
   */
  addSelecting(found: ObjectFacts[], namespace: string, labels: TextMap): void {
    const index = this.#namespaces.get(namespace)?.labels;
    if (index === undefined) return;
    for (const key in labels) {
      const filed = index.get(key)?.get(labels[key] ?? '')?.services ?? [];
      for (const service of filed) {
        if (!found.includes(service) && isSelecting(service, labels)) found.push(service);
      }
    }
  }

  /** The service of that name. */
  find(namespace: string, name: string): ObjectFacts | undefined {
    return this.#namespaces.get(namespace)?.byName.get(name);
  }
}

/** Whether a service selects pods with these labels. */
export function isSelecting({ service }: ObjectFacts, labels: TextMap): boolean {
  const selector = service?.selector ?? {};
  let isEmpty = true;
  for (const key in selector) {
    if (labels[key] !== selector[key]) return false;
    isEmpty = false;
  }
  return !isEmpty;
}

function countLabels({ service }: ObjectFacts, { labels }: NamespaceIndex): void {
  const selector = service?.selector ?? {};
  for (const key in selector) getLabel(labels, key, selector[key] ?? '').count += 1;
}

function fileService(service: ObjectFacts, { labels, byName }: NamespaceIndex): void {
  byName.set(service.name, service);
  const selector = service.service?.selector ?? {};
  let rarest: SelectedLabel | undefined;
  for (const key in selector) {
    const label = getLabel(labels, key, selector[key] ?? '');
    if (rarest === undefined || label.count < rarest.count) rarest = label;
  }
  rarest?.services.push(service);
}

function getNamespace(namespaces: Map<string, NamespaceIndex>, name: string): NamespaceIndex {
  return getOrAdd(namespaces, name, () => ({ byName: new Map(), labels: new Map() }));
}

function getLabel(labels: NamespaceIndex['labels'], key: string, value: string): SelectedLabel {
  const values = getOrAdd(labels, key, () => new Map<string, SelectedLabel>());
  return getOrAdd(values, value, () => ({ count: 0, services: [] }));
}
