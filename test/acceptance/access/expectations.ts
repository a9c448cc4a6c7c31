/** Who calls: nobody who says his name; somebody without rights; who may read, or write, account and application; an administrator. */
export const callers = ['none', 'stranger', 'reader', 'writer', 'admin'] as const;

export type CallerName = (typeof callers)[number];

/** Who tells what they may do: Gate alone, by its header; Fiat; and Fiat, in each of the ways in which it cannot. */
export const judges = ['gate', 'up', 'slow', 'down', 'code 500', 'wrong-json'] as const;

export type Judge = (typeof judges)[number];

/**
 * What becomes of a request: let `in`, whatever the function says then; `refused` for want of a right; `closed` since nobody can tell;
 * answered `whole`, or `cut` down to what is not of the restricted account.
 */
export type Outcome = 'in' | 'refused' | 'closed' | 'whole' | 'cut';

type Outcomes = readonly [Outcome, Outcome, Outcome, Outcome, Outcome];

const inForAll: Outcomes = ['in', 'in', 'in', 'in', 'in'];
const closed: Outcomes = ['closed', 'closed', 'closed', 'closed', 'closed'];
/** Gate lists accounts that somebody may write to: of who may read it knows nothing. */
const inForListed: Outcomes = ['refused', 'refused', 'refused', 'in', 'in'];
const inForAdmins: Outcomes = ['refused', 'refused', 'refused', 'refused', 'in'];
const wholeForListed: Outcomes = ['cut', 'cut', 'cut', 'whole', 'whole'];
const wholeForReaders: Outcomes = ['cut', 'cut', 'whole', 'whole', 'whole'];

/** Outcomes by what a route asks, in the order of `callers`: with Gate alone, with Fiat, and with Fiat away. */
const rules = {
  /** Nothing is asked. */
  open: [inForAll, inForAll, inForAll],
  /** READ of the account, and of the application where the path or the answer has one. */
  read: [inForListed, ['refused', 'refused', 'in', 'in', 'in'], closed],
  /** WRITE of the account, EXECUTE of the application. */
  write: [inForListed, ['refused', 'refused', 'refused', 'in', 'in'], closed],
  /** The right to manage accounts: without Fiat every program of the machine itself has it. */
  manage: [inForAll, inForAdmins, closed],
  /** The same, and WRITE of the account. */
  manageAccount: [inForListed, inForAdmins, closed],
  /** READ of the application, of which only what is in accounts that may be read is shown. Without Fiat applications are everybody's. */
  application: [wholeForListed, ['refused', 'refused', 'whole', 'whole', 'whole'], closed],
  /** READ of the application, and of no account. */
  ofApplication: [inForAll, ['refused', 'refused', 'in', 'in', 'in'], closed],
  /** What may be read is shown. */
  list: [wholeForListed, wholeForReaders, closed],
  /** The same, of which there is nothing here. */
  emptyList: [inForAll, inForAll, closed],
  /** Names of all applications are told to everybody; while Fiat is away to who does not say his name: Fiat itself asks for them. */
  names: [wholeForListed, wholeForReaders, ['cut', 'closed', 'closed', 'closed', 'closed']],
  /** All are shown to who does not say his name, and what may be read to others; there is nothing here. */
  images: [inForAll, inForAll, ['in', 'closed', 'closed', 'closed', 'closed']],
} as const satisfies { readonly [rule: string]: readonly [Outcomes, Outcomes, Outcomes] };

/** What each route asks. A new route has no row here, and fails. */
export const table: { readonly [route: string]: keyof typeof rules } = {
  'GET /': 'open',
  'GET /applications': 'names',
  'GET /applications/{application}': 'application',
  'GET /applications/{application}/clusters': 'application',
  'GET /applications/{application}/clusters/{account}': 'read',
  'GET /applications/{application}/clusters/{account}/{cluster}': 'read',
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}': 'read',
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/loadBalancers': 'read',
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups': 'read',
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}':
    'read',
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}/scalingActivities':
    'emptyList',
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}':
    'read',
  'GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/{scope}/serverGroups/target/{target}/{summaryType}':
    'read',
  'GET /applications/{application}/functions': 'emptyList',
  'GET /applications/{application}/jobs/{account}/{location}/{id}': 'read',
  'POST /applications/{application}/jobs/{account}/{location}/{id}': 'read',
  'DELETE /applications/{application}/jobs/{account}/{location}/{id}': 'write',
  'GET /applications/{application}/jobs/{account}/{location}/{id}/{fileName}': 'read',
  'GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}': 'read',
  'GET /applications/{application}/loadBalancers': 'application',
  'GET /applications/{application}/rawResources': 'application',
  'GET /applications/{application}/serverGroupManagers': 'application',
  'GET /applications/{application}/serverGroups': 'application',
  'GET /applications/{application}/serverGroups/{account}/{region}/events': 'emptyList',
  'GET /applications/{application}/serverGroups/{account}/{region}/{name}': 'read',
  'GET /artifacts/account/{account}/names': 'open',
  'GET /artifacts/account/{account}/versions': 'open',
  'GET /artifacts/content-address/{application}/{hash}': 'ofApplication',
  'GET /artifacts/credentials': 'open',
  'PUT /artifacts/fetch': 'open',
  'PUT /admin/db/truncate/{namespace}': 'open',
  'GET /cache/introspection': 'list',
  'GET /cache/{cloudProvider}/{type}': 'open',
  'POST /cache/{cloudProvider}/{type}': 'open',
  'GET /certificates': 'emptyList',
  'GET /certificates/{cloudProvider}': 'emptyList',
  'GET /cloudMetrics/{cloudProvider}/{account}/{region}': 'emptyList',
  'GET /credentials': 'open',
  'POST /credentials': 'manage',
  'PUT /credentials': 'manage',
  'GET /credentials/type/{type}': 'manage',
  'GET /credentials/{account}': 'open',
  'PUT /credentials/{account}': 'manageAccount',
  'DELETE /credentials/{account}': 'manageAccount',
  'GET /credentials/{account}/history': 'manageAccount',
  'GET /credentials/{account}/authorized': 'write',
  'POST /credentials/{account}/compare': 'write',
  'GET /credentials/{account}/health': 'read',
  'POST /v1/kubernetes/providers': 'manage',
  'PUT /v1/kubernetes/providers': 'manage',
  'GET /v1/kubernetes/providers': 'manage',
  'GET /v1/kubernetes/providers/{account}': 'manageAccount',
  'DELETE /v1/kubernetes/providers/{account}': 'manageAccount',
  'PUT /v1/kubernetes/providers/{account}/resources': 'manageAccount',
  'DELETE /v1/kubernetes/providers/{account}/resources': 'manageAccount',
  'GET /ecs/cloudMetrics/alarms': 'emptyList',
  'GET /ecs/ecsClusters': 'emptyList',
  'GET /ecs/secrets': 'emptyList',
  'GET /ecs/serviceDiscoveryRegistries': 'emptyList',
  'GET /elasticIps/{account}': 'emptyList',
  'GET /features/stages': 'open',
  'GET /functions': 'emptyList',
  'GET /health': 'open',
  'GET /installedPlugins': 'open',
  'GET /instanceTypes': 'emptyList',
  'GET /instances/{account}/{region}/{id}': 'read',
  'GET /instances/{account}/{region}/{id}/console': 'read',
  'GET /keyPairs': 'emptyList',
  'GET /manifests/{account}/{location}': 'read',
  'GET /manifests/{account}/{location}/{name}': 'read',
  'GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}': 'read',
  'GET /manifests/{account}/{location}/{name}/cluster/{application}/{cluster}/dynamic/{criteria}': 'read',
  'GET /networks': 'emptyList',
  'GET /networks/{cloudProvider}': 'emptyList',
  'POST /ops': 'write',
  'POST /ops/{operation}': 'write',
  'GET /projects/{project}/clusters': 'list',
  'GET /reports/reservation': 'emptyList',
  'GET /reports/reservation/{name}': 'emptyList',
  'GET /roles/{cloudProvider}': 'emptyList',
  'GET /search': 'list',
  'GET /securityGroups': 'list',
  'GET /securityGroups/{account}': 'read',
  'GET /securityGroups/{account}/{cloudProvider}': 'read',
  'GET /securityGroups/{account}/{cloudProvider}/{region}': 'read',
  'GET /securityGroups/{account}/{cloudProvider}/{region}/{name}': 'read',
  'GET /serverGroups': 'list',
  'GET /serverGroups/{account}/{region}/{name}': 'read',
  'GET /servicebroker/{account}/services': 'emptyList',
  'GET /storage': 'emptyList',
  'GET /subnets': 'emptyList',
  'GET /subnets/{cloudProvider}': 'emptyList',
  'GET /tags': 'emptyList',
  'GET /task': 'emptyList',
  'GET /status': 'list',
  'GET /tasks': 'list',
  'POST /tasks/redrive': 'manage',
  'GET /task/{id}': 'read',
  'POST /task/{id}': 'write',
  'DELETE /task/{id}': 'write',
  'GET /v3/api-docs': 'open',
  'GET /vpcs': 'emptyList',
  'GET /{cloudProvider}/charts/find': 'images',
  'GET /{cloudProvider}/charts/tags': 'images',
  'GET /{cloudProvider}/images/find': 'images',
  'GET /{cloudProvider}/images/tags': 'images',
  'GET /{cloudProvider}/loadBalancers': 'emptyList',
  'GET /{cloudProvider}/loadBalancers/{account}/{region}/{name}': 'read',
  'POST /{cloudProvider}/ops': 'write',
  'POST /{cloudProvider}/ops/{operation}': 'write',
  'PATCH /{cloudProvider}/task/{id}': 'write',
  'GET /{cloudProvider}/task/{id}/owner': 'read',
  'POST /{cloudProvider}/task/{id}/restart': 'write',
};

/** What becomes of a route's request by who calls and who judges. @throws Error for a route that the table does not have */
export function getExpectation(route: string, caller: CallerName, judge: Judge): Outcome {
  const rule = table[route];
  if (rule === undefined) throw new Error(`${route} has no row in test/acceptance/access/expectations.ts`);
  const [gate, fiat, away] = rules[rule];
  const outcomes = judge === 'gate' ? gate : judge === 'up' || judge === 'slow' ? fiat : away;
  return outcomes[callers.indexOf(caller)] ?? 'closed';
}
