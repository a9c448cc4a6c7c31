import type { SecurityGroupsRequest, Viewed, ViewKey } from '#views/views.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import {
  getBareName,
  isNamed,
  findSecurityGroup as pickSecurityGroup,
  toAccountSecurityGroupsView,
  toRegionSecurityGroupsView,
  toSecurityGroupsView,
  toSecurityGroupView,
} from '../views/security-group-view.ts';
import { type CacheReading, createSight, listObjects, readAllFacts } from './cache-reading.ts';

/** See {@link ViewReader.listSecurityGroups}. One query for each account and kind of security group. */
export async function listSecurityGroups(
  reading: CacheReading,
  { account, location, name }: SecurityGroupsRequest,
): Promise<Viewed> {
  const configured = reading.session.accounts.filter(
    (each) => account === undefined || each.name === account,
  );
  const accounts = configured.map((each) => each.name);
  const lists = await Promise.all(configured.map((each) => loadSecurityGroups(reading, each, location)));
  const wanted = lists.map((facts) => facts.filter((each) => name === undefined || isNamed(each, name)));
  if (account === undefined) {
    const found = wanted.map((securityGroups, index) => ({ account: accounts[index] ?? '', securityGroups }));
    return { value: toSecurityGroupsView(found), accounts };
  }
  const securityGroups = wanted.flat();
  const isOneRegion = location !== undefined && name === undefined;
  const value = isOneRegion
    ? toRegionSecurityGroupsView(securityGroups, location)
    : toAccountSecurityGroupsView(securityGroups);
  return { value, accounts };
}

/** See {@link ViewReader.findSecurityGroup}. */
export async function findSecurityGroup(
  reading: CacheReading,
  { account, location, name }: ViewKey,
): Promise<Viewed | undefined> {
  const configured = reading.session.findAccount(account);
  if (configured === undefined) return undefined;
  const keys = listKinds(configured).map((kind) => ({
    account,
    kind,
    location,
    name: getBareName(name),
  }));
  const wanted = keys.filter(createSight(reading, account));
  const objects = wanted.length === 0 ? [] : await reading.cache.getObjects(wanted);
  const securityGroups = readAllFacts(objects.filter((object) => object !== undefined));
  const facts = pickSecurityGroup(securityGroups, { region: location, name });
  return facts && { value: toSecurityGroupView(account, facts), accounts: [account] };
}

async function loadSecurityGroups(
  reading: CacheReading,
  account: KubernetesAccount,
  namespace: string | undefined,
): Promise<ObjectFacts[]> {
  const { name } = account;
  const lists = await Promise.all(
    listKinds(account).map((kind) => listObjects(reading, { account: name, kind, namespace })),
  );
  return readAllFacts(lists.flat());
}

/** The kinds that an account treats as security groups: built-in ones, and those that its configuration describes. */
function listKinds({ kindRegistry }: KubernetesAccount): string[] {
  return kindRegistry.kinds
    .filter(({ spinnakerKind }) => spinnakerKind === 'securityGroups')
    .map(({ name }) => name);
}
