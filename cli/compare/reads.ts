import { asJsonArray, asJsonObject, asString, getPath, type JsonValue } from '#core/json.ts';

/** A read as one of Spinnaker's services asks it. */
export interface Read {
  /** Those who ask it; `file` for one of a recorded file. */
  readonly client: string;
  /** Path and query, encoded. */
  readonly path: string;
}

/** Reads about an account as a whole. */
export function listAccountReads(account: string): readonly Read[] {
  const name = encodeURIComponent(account);
  return [
    { client: 'Fiat, Gate', path: '/credentials?expand=true' },
    { client: 'Deck', path: `/credentials/${name}` },
    { client: 'Fiat, Gate', path: '/applications?restricted=false&expand=true' },
    { client: 'Deck', path: `/securityGroups/${name}` },
    { client: 'Deck', path: `/kubernetes/images/find?account=${name}&q=` },
    { client: 'Igor', path: `/dockerRegistry/images/find?account=${name}` },
  ];
}

/** Reads about an application in an account. */
export function listApplicationReads(account: string, application: string): readonly Read[] {
  const path = `/applications/${encodeURIComponent(application)}`;
  return [
    { client: 'Orca', path },
    { client: 'Deck', path: `${path}/clusters` },
    { client: 'Orca', path: `${path}/clusters/${encodeURIComponent(account)}` },
    { client: 'Deck', path: `${path}/serverGroups?expand=false` },
    { client: 'Deck', path: `${path}/serverGroupManagers` },
    { client: 'Deck', path: `${path}/loadBalancers` },
    { client: 'Deck', path: `${path}/rawResources` },
  ];
}

/** Reads about the objects that a list of an application has. @param most objects at most */
export function listObjectReads(
  { path: listPath }: Read,
  list: JsonValue | undefined,
  most: number,
): readonly Read[] {
  const [, application, kind] = /^\/applications\/([^/]+)\/(\w+)/.exec(listPath) ?? [];
  if (kind !== 'serverGroups' && kind !== 'loadBalancers' && kind !== 'serverGroupManagers') return [];
  return asJsonArray(list)
    .slice(0, most)
    .flatMap((item) => {
      const at = toPlace(item);
      if (at === undefined) return [];
      const manifest = { client: 'Deck, Orca', path: `/manifests/${at}?includeEvents=false` };
      if (kind !== 'serverGroups') return [manifest];
      const [pod] = asJsonArray(getPath(item, 'instances'));
      const podAt = pod === undefined ? undefined : toPlace({ ...asJsonObject(item), ...asJsonObject(pod) });
      const group = `/applications/${application}/serverGroups/${at}?includeDetails=false`;
      const cluster = encodeURIComponent(asString(getPath(item, 'cluster')) ?? '');
      const [account] = at.split('/');
      return [
        manifest,
        { client: 'Deck', path: group },
        ...(podAt === undefined ? [] : [{ client: 'Deck', path: `/instances/${podAt}` }]),
        ...(cluster === ''
          ? []
          : [
              {
                client: 'Orca',
                path: `/applications/${application}/clusters/${account}/${cluster}/kubernetes`,
              },
            ]),
      ];
    });
}

/** `prod/web/deployment%20shop`; undefined for an item without one of its names. */
function toPlace(item: JsonValue): string | undefined {
  const { account, namespace, region, name } = asJsonObject(item) ?? {};
  const parts = [account, region ?? namespace, name].map(asString);
  return parts.includes(undefined)
    ? undefined
    : parts.map((part) => encodeURIComponent(part ?? '')).join('/');
}

/** Names of applications that have something in an account, on one of the sides. */
export function listApplicationNames(answers: readonly (JsonValue | undefined)[]): readonly string[] {
  const names = answers.flatMap(asJsonArray).flatMap((item) => asString(getPath(item, 'name')) ?? []);
  return [...new Set(names)].sort();
}

/** A path at the beginning of a line, or behind the method of an access log. */
const recorded = /(?:^|[\s"]GET\s+|^GET\s+)(\/[^\s"]*)/;

/** Reads of a recorded file, each once: a line each, as in an access log. Empty lines, comments and other methods are left out. */
export function parseReads(text: string): readonly Read[] {
  const paths = text.split('\n').flatMap((line) => recorded.exec(line.trim())?.[1] ?? []);
  return [...new Set(paths)].map((path) => ({ client: 'file', path }));
}
