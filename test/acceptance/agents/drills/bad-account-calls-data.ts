import { paths } from '#test/support/services/dynamic-accounts.ts';

/** A call, what is wrong with it, how it is answered, and its body if it has one. */
export type BadCall = [
  method: string,
  target: string,
  what: string,
  status: number,
  words: string,
  body?: object,
];

const { accounts, dynamic, served } = paths;
const own = 'expected nothing: the file of the agent says how it reaches the cluster';

/**
 * Calls that change nothing. Account `direct` of the settings and `reached` of the store have no agents, `configured` of the settings has
 * some, and so has `idle` of the store.
 *
 * @param agent what a definition says of its agents
 */
export function listBadCalls(agent: object): readonly BadCall[] {
  return [...listCreations(agent), ...listUpdates(agent), ...listMigrations(agent), ...listOthers()];
}

function listCreations(agent: object): readonly BadCall[] {
  const good = { name: 'good', agent };
  const many = Array.from({ length: 101 }, (_, index) => ({ name: `a${index}`, agent }));
  const seconds: readonly (readonly [string, object, string])[] = [
    ['none', { name: 'a' }, '.agent: expected an object, which says whose proof'],
    ['a name that is a path', { name: 'a/b', agent }, '.name: expected 1 to 253 letters'],
    ['a name twice', { ...good, name: 'GOOD' }, '.name: the list has GOOD more than once'],
    ['no proof', { name: 'a', agent: { auth: {} } }, '.agent.auth'],
    ['a kubeconfig', { name: 'a', agent, kubeconfigContents: 'k' }, `.kubeconfigContents: ${own}`],
    ['its file', { name: 'a', agent, kubeconfigFile: '/k' }, `.kubeconfigFile: ${own}`],
    ['a service account', { name: 'a', agent, serviceAccount: true }, `.serviceAccount: ${own}`],
    ['a context', { name: 'a', agent, context: 'c' }, '.context: expected nothing beside agent'],
    ['an unknown field', { name: 'a', agent, permission: {} }, '.permission: unknown'],
    ['a state', { name: 'a', agent, state: 'ACTIVE' }, '.state: expected INACTIVE'],
    ['a zone', { name: 'a', agent, zoneId: 7 }, '.zoneId: expected a text'],
    ['a type', { name: 'a', agent, type: 'dockerRegistry' }, '.type: expected one of kubernetes'],
  ];
  const large = { ...good, environment: 'x'.repeat(262_144) };
  return [
    ['POST', dynamic, 'no body', 400, 'The request must have a body in JSON'],
    ['POST', dynamic, 'an empty list', 400, 'The body must be a list of one account at least', []],
    ['POST', dynamic, 'many', 400, 'The list has 101 accounts: at most 100 are accepted', many],
    ['POST', dynamic, 'a text', 400, '[1]: expected an object, the account', [good, 'edge']],
    ...seconds.map(
      ([what, second, words]): BadCall => ['POST', dynamic, what, 400, `[1]${words}`, [good, second]],
    ),
    ['POST', dynamic, 'one', 400, 'agent: expected an object, which says whose proof', { name: 'a' }],
    ['POST', dynamic, 'a large one', 413, 'at most 262144', large],
  ];
}

function listUpdates(agent: object): readonly BadCall[] {
  const unknown = 'Cannot update an account which does not exist (name: none)';
  const reached = 'Account reached has no agents: its cluster is reached from here';
  const kubeconfig = { name: 'idle', kubeconfigAgent: 'k' };
  return [
    ['PUT', dynamic, 'no body', 400, 'The request must have a body in JSON'],
    ['PUT', dynamic, 'a list', 400, 'The body must be an object, the account', [{ name: 'good', agent }]],
    ['PUT', dynamic, 'no name', 400, 'name: expected a text', { agent }],
    ['PUT', dynamic, 'none', 400, unknown, { name: 'none' }],
    ['PUT', dynamic, 'one without agents', 400, reached, { name: 'reached' }],
    ['PUT', dynamic, 'a kubeconfig', 400, `kubeconfigAgent: ${own}`, kubeconfig],
    ['PUT', dynamic, 'no proof', 400, 'agent.auth', { name: 'idle', agent: { auth: {} } }],
  ];
}

function listMigrations(agent: object): readonly BadCall[] {
  const [reached, none] = ['reached', 'none'].map((name) => ({ name, agent }));
  const proof = '[0].agent: expected an object, which says whose proof';
  const text = [{ name: 'reached', agent: 'x' }];
  const direct = [{ name: 'direct', agent }];
  return [
    ['POST', accounts, 'no list', 400, 'The body must be a list of one account at least', {}],
    ['POST', accounts, 'none', 400, '[0]: No account found with name none', [none]],
    ['POST', accounts, 'no agent', 400, proof, [{ name: 'reached' }]],
    ['POST', accounts, 'an agent that is a text', 400, '[0].agent: expected an object', text],
    ['POST', accounts, 'one of the settings', 400, '[0]: The account direct stands in', direct],
    ['POST', accounts, 'one and none', 400, '[1]: No account found with name none', [reached, none]],
  ];
}

function listOthers(): readonly BadCall[] {
  const idle = { name: 'idle', state: 'ACTIVE' };
  const state = '[0].state: expected ACTIVE or INACTIVE';
  const active = (name: string) => [idle, { name, state: 'ACTIVE' }];
  const file = [{ ...idle, kubeconfigFile: 'x' }];
  const noAgents = (name: string) => `Account ${name} has no agents`;
  const none = 'No account found with name none';
  return [
    ['PATCH', accounts, 'an empty list', 400, 'The body must be a list of one account at least', []],
    ['PATCH', accounts, 'no state', 400, state, [{ name: 'idle' }]],
    ['PATCH', accounts, 'another state', 400, state, [{ name: 'idle', state: 'FAILED' }]],
    ['PATCH', accounts, 'a kubeconfig', 400, `[0].kubeconfigFile: ${own}`, file],
    ['PATCH', accounts, 'one and none', 400, `[1]: ${none}`, active('none')],
    ['PATCH', accounts, 'one without agents', 400, `[1]: ${noAgents('direct')}`, active('direct')],
    ['DELETE', accounts, 'no body', 400, 'The request must have a body in JSON'],
    ['DELETE', accounts, 'a number', 400, '[1]: expected a text', ['idle', 7]],
    ['DELETE', accounts, 'one twice', 400, '[1].name: the list has idle more than once', ['idle', 'idle']],
    ['DELETE', accounts, 'one and none', 400, `[1]: ${none}`, ['idle', 'none']],
    ['DELETE', accounts, 'one without agents', 400, `[1]: ${noAgents('reached')}`, ['idle', 'reached']],
    [
      'DELETE',
      accounts,
      'one of the settings',
      400,
      '[1]: The account configured stands in',
      ['idle', 'configured'],
    ],
    ['DELETE', `${accounts}/reached`, 'without agents', 404, noAgents('reached')],
    ['DELETE', `${accounts}/none`, 'none', 404, none],
    ['GET', `${accounts}/none`, 'none', 404, none],
    ['GET', `${accounts}/reached`, 'without agents', 404, noAgents('reached')],
    ['GET', `${served}/direct`, 'without agents', 404, noAgents('direct')],
    ['GET', `${served}/none/namespaces`, 'none', 404, none],
  ];
}
