import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cbor } from '@smithy/core/cbor';
import { expect, it } from 'vitest';
import { toBase64, toKubeconfig } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { createNamespace, describeWithCluster, type TestCluster } from '#test/support/cluster/cluster.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { scanTasks } from '#test/support/engines/stores.ts';
import { startTokenBroker, type TestBroker } from '#test/support/services/token-broker.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { PlantedSecrets } from '../access/planted-secrets.ts';

/** Options of accounts, by the account's name. */
type Accounts = { readonly [name: string]: object };

interface World {
  readonly aws: AwsEndpoints;
  readonly broker: TestBroker;
  readonly cluster: TestCluster;
  readonly secrets: PlantedSecrets;
  /** PEM of the cluster's authority. */
  readonly authority: string;
}

const type = 'spinnaker:user-secret-type';
const encoding = 'spinnaker:encoding';
const inRegion = (engine: string, rest: string) => `${engine}!r:eu-west-1!${rest}`;
const userSecret = (name: string, key: string) => `secret://secrets-manager?r=eu-west-1&s=${name}&k=${key}`;

describeWithCluster('credentials in secrets', (cluster) => {
  it('of every engine and syntax reach the cluster and are seen nowhere, whatever fails', async () => {
    await using namespace = await createNamespace('engines');
    await using aws = await startAwsEndpoints();
    await using broker = await startTokenBroker(() => cluster.token);
    const secrets = new PlantedSecrets();
    secrets.add('cluster token', cluster.token);
    const world = { aws, broker, cluster, secrets, authority: await readFile(cluster.caFile, 'utf8') };
    const good = placeGoodSecrets(world);
    const bad = placeBadSecrets(world);
    await using system = await start(
      { ...good, ...bad },
      { world, folder: aws.dir, namespace: namespace.name },
    );

    const tasks = await Promise.all(
      Object.keys({ ...good, ...bad }).map((account) => deploy(system, account, namespace.name)),
    );
    await system.idle();

    expect(secrets.count).toBeGreaterThanOrEqual(20);
    const failed = tasks.filter(({ task }) => task.status.failed).map(({ account }) => account);
    expect(failed.sort()).toEqual(Object.keys(bad).sort());
    expect(await system.readLog()).toMatch(/"message":"request".*"path":"\/kubernetes\/ops"/);
    expect(await system.readLog()).toMatch(/environment variables of no effect.*DB_PASS/);
    expect(await findPlanted(system, world, tasks)).toEqual({
      tasks: [],
      credentials: [],
      log: [],
      events: [],
      tables: [],
    });
  });
});

function placeGoodSecrets({ aws, broker, cluster, secrets, authority }: World): Accounts {
  const { server, token } = cluster;
  const kubeconfig = toKubeconfig({ server, 'certificate-authority-data': toBase64(authority) }, { token });
  const beside = (name: string) => ({ kube: kubeconfig, other: secrets.plant(name) });
  aws.objects
    .set('spin/kube', kubeconfig)
    .set(
      'spin/all.yml',
      `clusters:\n  prod: ${JSON.stringify(kubeconfig)}\nother: ${secrets.plant('yaml')}\n`,
    )
    .set('spin/ca', authority);
  aws.parameters.set('/kube', kubeconfig).set('/token', `${cluster.token}\n`);
  aws.secrets
    .set('whole', { SecretString: kubeconfig })
    .set('members', { SecretString: JSON.stringify(beside('json')) })
    .set('u-json', { SecretString: JSON.stringify(beside('user-json')) })
    .set('u-yaml', { SecretString: JSON.stringify(beside('user-yaml')) })
    .set('u-cbor', { SecretBinary: Buffer.from(cbor.serialize(beside('user-cbor'))).toString('base64') })
    .set('u-text', { SecretString: kubeconfig })
    .set('arcade', { SecretString: JSON.stringify({ key: secrets.plant('api-key') }) });
  aws.tags
    .set('u-json', { [type]: 'opaque' })
    .set('u-yaml', { [type]: 'opaque', [encoding]: 'yaml' })
    .set('u-cbor', { [type]: 'opaque', [encoding]: 'cbor' })
    .set('u-text', { [type]: 'string' })
    .set('arcade', { [type]: 'opaque' });
  broker.apiKey = secrets.plant('api-key');
  const host = cluster.server;
  const caData = inRegion('encryptedFile:s3', 'b:spin!f:ca');
  return {
    s3: { kubeconfigFile: inRegion('encryptedFile:s3', 'b:spin!f:kube') },
    's3-path': { kubeconfigContents: inRegion('encrypted:s3', 'b:spin!f:all.yml!k:clusters.prod') },
    ssm: { kubeconfigContents: inRegion('encrypted:ssm', 'n:/kube') },
    'secrets-manager': { kubeconfigFile: inRegion('encryptedFile:secrets-manager', 's:whole') },
    'secrets-manager-key': { kubeconfigContents: inRegion('encrypted:secrets-manager', 's:members!k:kube') },
    named: { kubeconfigSecret: 'whole' },
    'user-json': { kubeconfigContents: userSecret('u-json', 'kube') },
    'user-yaml': { kubeconfigContents: userSecret('u-yaml', 'kube') },
    'user-cbor': { kubeconfigFile: userSecret('u-cbor', 'kube') },
    'user-text': { kubeconfigSecret: userSecret('u-text', '') },
    noop: { kubeconfigContents: `encrypted:noop!v:${kubeconfig}` },
    server: { server: { host, caData, bearerToken: inRegion('encrypted:ssm', 'n:/token') } },
    broker: { server: { host, caData } },
  };
}

function placeBadSecrets({ aws, cluster, secrets }: World): Accounts {
  const plant = (name: string) => secrets.plant(name);
  aws.objects
    .set('spin/bad.yml', `a: [${plant('bad-yaml')}`)
    .set('spin/bad-ca', plant('bad-authority'))
    .set('spin/list.yml', `a: [${plant('list')}]`);
  aws.parameters
    .set('/no-kubeconfig', `clusters: ["${plant('no-kubeconfig')}"]`)
    .set('/text', plant('text'))
    .set('/token-lines', `${plant('first-line')}\n${plant('second-line')}`)
    .set('/wrong-token', plant('wrong-token'));
  aws.secrets
    .set('no-json', { SecretString: plant('no-json') })
    .set('no-key', { SecretString: JSON.stringify({ other: plant('other-key') }) })
    .set('u-no-tag', { SecretString: plant('no-tag') })
    .set('u-no-json', { SecretString: plant('user-no-json') })
    .set('u-no-cbor', { SecretBinary: Buffer.from(`\xa3${plant('no-cbor')}`, 'latin1').toString('base64') })
    .set('wrong-key', { SecretString: plant('wrong-api-key') })
    .set('external', { SecretString: plant('external-id') });
  aws.tags.set('u-no-json', { [type]: 'opaque' }).set('u-no-cbor', { [type]: 'opaque', [encoding]: 'cbor' });
  const host = cluster.server;
  const token = (name: string) => ({ server: { host, bearerToken: inRegion('encrypted:ssm', `n:${name}`) } });
  const roleArn = 'arn:aws:iam::111122223333:role/refused';
  return {
    'bad-yaml': { kubeconfigContents: inRegion('encrypted:s3', 'b:spin!f:bad.yml!k:a.b') },
    list: { kubeconfigContents: inRegion('encrypted:s3', 'b:spin!f:list.yml!k:a') },
    'bad-ca': { server: { host, caData: inRegion('encrypted:s3', 'b:spin!f:bad-ca') } },
    'no-kubeconfig': { kubeconfigContents: inRegion('encrypted:ssm', 'n:/no-kubeconfig') },
    text: { kubeconfigContents: inRegion('encrypted:ssm', 'n:/text') },
    'token-lines': token('/token-lines'),
    'wrong-token': token('/wrong-token'),
    'no-json': { kubeconfigContents: inRegion('encrypted:secrets-manager', 's:no-json!k:kube') },
    'no-key': { kubeconfigContents: inRegion('encrypted:secrets-manager', 's:no-key!k:kube') },
    'no-tag': { kubeconfigContents: userSecret('u-no-tag', 'kube') },
    'user-no-json': { kubeconfigContents: userSecret('u-no-json', 'kube') },
    'user-no-cbor': { kubeconfigContents: userSecret('u-no-cbor', 'kube') },
    'wrong-key': { server: { host, tokenBroker: 'wrong' } },
    external: {
      eks: { cluster: 'shop', roleArn, externalId: inRegion('encrypted:secrets-manager', 's:external') },
    },
    'bad-noop': { kubeconfigContents: `encrypted:noop!v:${plant('noop')}` },
  };
}

function start(
  accounts: Accounts,
  {
    world,
    folder,
    namespace,
  }: { readonly world: World; readonly folder: string; readonly namespace: string },
): Promise<System> {
  const { url } = world.broker;
  const bounds = { namespaces: [namespace], clusterScopedKinds: false, cacheIntervalSeconds: 5 };
  const settings = {
    kubernetes: {
      accounts: Object.entries(accounts).map(([name, options]) => ({ name, ...bounds, ...options })),
    },
    busdriver: {
      authorization: { reads: 'off' },
      tokenBrokers: {
        arcade: { url, apiKey: userSecret('arcade', 'key') },
        wrong: { url, apiKey: inRegion('encrypted:secrets-manager', 's:wrong-key') },
      },
    },
  };
  const config = join(folder, 'spinnaker.yml');
  return writeFile(config, JSON.stringify(settings)).then(() =>
    startSystem({
      config: [config],
      args: ['--log-level', 'debug'],
      env: { VERBOSE_REQUEST_LOGGING: 'true', DB_PASS: world.secrets.plant('database') },
    }),
  );
}

async function deploy(system: System, account: string, namespace: string) {
  const id = await system.postOperations([toDeploy(account, namespace, [account])]);
  return { account, task: await system.waitForTask(id, { timeoutMs: 90_000 }) };
}

/** Names of planted secrets, by where they are found. */
async function findPlanted(system: System, { secrets }: World, tasks: readonly object[]) {
  const { tasksTable: _, ...stores } = system.stores;
  const tables = await Promise.all(
    ['tasks', 'cache'].map((tasksTable) => scanTasks({ ...stores, tasksTable })),
  );
  const credentials = await system.fetch('/credentials?expand=true');
  return {
    tasks: secrets.findIn(JSON.stringify(tasks)),
    credentials: secrets.findIn(await credentials.text()),
    log: secrets.findIn(await system.readLog()),
    events: secrets.findIn(JSON.stringify(await system.readEvents())),
    tables: secrets.findIn(tables.join('\n')),
  };
}
