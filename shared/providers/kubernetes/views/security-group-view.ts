import type {
  SecurityGroupSummaryView,
  SecurityGroupsByProvider,
  SecurityGroupsByRegion,
  SecurityGroupView,
} from '#contract/answers/security-groups.ts';
import { compareText, sortByName } from '#core/text-order.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts, PortFacts } from '../rows/facts.ts';
import { cloudProvider, toResourceView } from './resource-view.ts';

/** The ports that a network policy allows for one protocol; all ports if there is no range. */
type PortRuleView = SecurityGroupView['inboundRules'][number];

/** A port, or a range of ports: by number or, for one port, by name. */
type PortRangeView = NonNullable<PortRuleView['portRanges']>[number];

/** The network policies of one account. */
export interface AccountSecurityGroups {
  readonly account: string;
  readonly securityGroups: readonly ObjectFacts[];
}

/** Typed clients check the names of Clouddriver's classes. */
const securityGroupClass =
  'com.netflix.spinnaker.clouddriver.kubernetes.caching.view.model.KubernetesSecurityGroup';
const ruleClass = `${securityGroupClass}$PortRule`;

/** `GET /securityGroups`: by account, provider and namespace. An account without any is left out. */
export function toSecurityGroupsView(accounts: readonly AccountSecurityGroups[]): {
  readonly [account: string]: SecurityGroupsByProvider;
} {
  const views = accounts
    .filter(({ securityGroups }) => securityGroups.length > 0)
    .map(({ account, securityGroups }) => [account, toAccountSecurityGroupsView(securityGroups)] as const);
  return Object.fromEntries(views);
}

/** `GET /securityGroups/{account}`: by provider and namespace; empty if there are none. */
export function toAccountSecurityGroupsView(
  securityGroups: readonly ObjectFacts[],
): SecurityGroupsByProvider {
  return securityGroups.length === 0 ? {} : { [cloudProvider]: toSecurityGroupsByRegion(securityGroups) };
}

/** `GET /securityGroups/{account}?region=`: by provider; empty if the namespace has none. */
export function toRegionSecurityGroupsView(
  securityGroups: readonly ObjectFacts[],
  region: string,
): { readonly [provider: string]: readonly SecurityGroupSummaryView[] } {
  const summaries = toSecurityGroupSummaries(securityGroups, region);
  return summaries.length === 0 ? {} : { [cloudProvider]: summaries };
}

/** `GET /securityGroups/{account}/kubernetes`: by namespace. */
export function toSecurityGroupsByRegion(securityGroups: readonly ObjectFacts[]): SecurityGroupsByRegion {
  const regions = [...new Set(securityGroups.map(({ namespace }) => namespace))].sort(compareText);
  return Object.fromEntries(
    regions.map((region) => [region, toSecurityGroupSummaries(securityGroups, region)]),
  );
}

/** `GET /securityGroups/{account}/kubernetes?region=`: those of one namespace, sorted by name, ignoring case. */
export function toSecurityGroupSummaries(
  securityGroups: readonly ObjectFacts[],
  region: string,
): SecurityGroupSummaryView[] {
  return sortByName(securityGroups.filter(({ namespace }) => namespace === region).map(toSummary));
}

/** A namespace's network policy by its name: the full name, else the part after the kind. */
export function findSecurityGroup(
  securityGroups: readonly ObjectFacts[],
  { region, name }: { readonly region: string; readonly name: string },
): ObjectFacts | undefined {
  const found = securityGroups.filter((facts) => facts.namespace === region && isNamed(facts, name));
  return found.find((facts) => formatFullName(facts.kind, facts.name) === name) ?? found[0];
}

/** `GET /securityGroups/{account}/kubernetes/{region}/{name}`: all that is shown of a network policy. */
export function toSecurityGroupView(account: string, facts: ObjectFacts): SecurityGroupView {
  const summary = toSummary(facts);
  return {
    class: securityGroupClass,
    ...toResourceView(account, facts),
    id: summary.id,
    accountName: account,
    application: facts.moniker.app,
    cloudProvider,
    type: cloudProvider,
    summary,
    inboundRules: facts.networkPolicy?.inbound.map(toRule) ?? [],
    outboundRules: facts.networkPolicy?.outbound.map(toRule) ?? [],
  };
}

/** Whether a full name means a network policy: Clouddriver compares only the part after the kind. */
export function isNamed({ name }: ObjectFacts, wanted: string): boolean {
  return name === getBareName(wanted);
}

/** The part after the kind in a full name. */
export function getBareName(fullName: string): string {
  return fullName.slice(fullName.indexOf(' ') + 1);
}

/** Those of V1 accounts are shown under their bare names. */
function toSummary({ kind, name, v1 }: ObjectFacts): SecurityGroupSummaryView {
  const fullName = v1 === undefined ? formatFullName(kind, name) : name;
  return { name: fullName, id: fullName, moniker: {} };
}

function toRule({ protocol, port, endPort }: PortFacts): PortRuleView {
  return {
    class: ruleClass,
    protocol,
    portRanges: port === undefined ? undefined : [toPortRange(port, endPort)],
  };
}

function toPortRange(port: number | string, endPort: number | undefined): PortRangeView {
  if (typeof port === 'string') return { startPortName: port, endPortName: port };
  return { startPort: port, endPort: endPort ?? port };
}
