import type { JsonObject } from '#core/json.ts';

/** How Orca says that a pipeline has ended. */
export type Ending = 'SUCCEEDED' | 'TERMINAL' | 'CANCELED';

/** A pipeline, and how it is to end. */
export interface Pipeline {
  readonly name: string;
  /** In order; each begins when the one before has succeeded. */
  readonly stages: readonly JsonObject[];
  readonly ends: Ending;
}

/** Where pipelines deploy, and of what. */
export interface PipelineOptions {
  readonly account: string;
  /** One that there is. What pipelines deploy there is deleted by the last of them. */
  readonly namespace: string;
  /** The image of workloads, which runs without arguments and does not end. */
  readonly image: string;
  /** The image of Jobs, which has `true` and `false`. */
  readonly jobImage: string;
}

/** Spinnaker's application of all that is deployed. */
export const application = 'busdriverorca';

const mark = { 'busdriver.test/orca': 'true' };

function toPipeline(name: string, stages: JsonObject[], ends: Ending = 'SUCCEEDED'): Pipeline {
  return { name, stages, ends };
}

/** Twenty pipelines: nineteen that may run side by side, and one that deletes what they have left. */
export function createPipelines(options: PipelineOptions): readonly Pipeline[] {
  return [...createDeploys(options), ...createChanges(options), ...createEnds(options)];
}

/** The stages of a pipeline, by its options. */
function createStages({ account, namespace, image, jobImage }: PipelineOptions) {
  const stage = (type: string, context: JsonObject) => ({
    ...{
      type,
      name: type,
      account,
      credentials: account,
      cloudProvider: 'kubernetes',
      application,
      app: application,
    },
    ...context,
  });
  const pods = (name: string, version: number, podImage: string) => ({
    metadata: { labels: { app: name, ...mark } },
    // A version of it: what is deployed again is another one.
    spec: {
      containers: [{ name: 'main', image: podImage, env: [{ name: 'VERSION', value: `${version}` }] }],
    },
  });
  const object = (kind: string, name: string, { annotations = {}, ...parts }: JsonObject) => {
    const versions: { readonly [kind: string]: string } = { Deployment: 'apps/v1', Job: 'batch/v1' };
    const apiVersion = versions[kind] ?? (kind.endsWith('Set') ? 'apps/v1' : 'v1');
    return { apiVersion, kind, metadata: { name, namespace, labels: { ...mark }, annotations }, ...parts };
  };
  const workload = (kind: string, name: string, { version = 1, of = image } = {}) => {
    const spec = { replicas: 1, selector: { matchLabels: { app: name } }, template: pods(name, version, of) };
    return object(kind, name, { spec: kind === 'StatefulSet' ? { ...spec, serviceName: name } : spec });
  };
  const deploy = (manifests: JsonObject[], more: JsonObject = {}) =>
    stage('deployManifest', { source: 'text', moniker: { app: application }, manifests, ...more });
  const change = (type: string, manifestName: string, more: JsonObject = {}) =>
    stage(type, { location: namespace, manifestName, mode: 'static', ...more });
  const runJob = (name: string, command: string) => {
    const containers = [{ name: 'main', image: jobImage, command: [command] }];
    const outcome = { 'kubecluster.test/outcome': command === 'true' ? 'succeed' : 'fail' };
    const template = {
      metadata: { annotations: outcome, labels: { ...mark } },
      spec: { restartPolicy: 'Never', containers },
    };
    const manifest = object('Job', name, { spec: { backoffLimit: 0, template } });
    return stage('runJob', { source: 'text', manifest, alias: 'runJob' });
  };
  return { stage, object, workload, deploy, change, runJob };
}

function createDeploys(options: PipelineOptions): readonly Pipeline[] {
  const { object, workload, deploy } = createStages(options);
  const config = (name: string, value: string, annotations: JsonObject = {}) =>
    deploy([object('ConfigMap', name, { data: { value }, annotations })]);
  const traffic = (strategy: string): Pipeline => {
    const name = `orca-${strategy}`;
    const service = object('Service', name, { spec: { selector: { serves: name }, ports: [{ port: 80 }] } });
    const namespaced = { namespace: options.namespace, services: [`service ${name}`] };
    const trafficManagement = { enabled: true, options: { ...namespaced, enableTraffic: true, strategy } };
    const versions = [1, 2].map((each) =>
      deploy([workload('ReplicaSet', name, { version: each })], { trafficManagement }),
    );
    return toPipeline(`two versions, ${strategy}`, [deploy([service]), ...versions]);
  };
  const artifact = { type: 'docker/image', name: 'bound.test/image', reference: options.image };
  const bound = workload('Deployment', 'orca-bound', { of: artifact.name });
  const mixed = [
    workload('Deployment', 'orca-mix'),
    object('Secret', 'orca-mix', { stringData: { a: 'b' } }),
  ];
  const twice = [1, 2].map((each) => deploy([workload('Deployment', 'orca-twice', { version: each })]));
  const unversioned = { 'strategy.spinnaker.io/versioned': 'false' };
  const plain = ['1', '2'].map((each) => config('orca-plain', each, unversioned));
  return [
    toPipeline('deploy a Deployment, twice', twice),
    toPipeline('deploy a StatefulSet', [deploy([workload('StatefulSet', 'orca-set')])]),
    toPipeline('deploy a Deployment with a Secret', [deploy(mixed)]),
    toPipeline('versions of a ConfigMap', [config('orca-versions', '1'), config('orca-versions', '2')]),
    toPipeline('a ConfigMap without versions', plain),
    ...['none', 'redblack', 'highlander'].map(traffic),
    toPipeline('bind an artifact', [deploy([bound], { requiredArtifacts: [{ artifact }] })]),
  ];
}

function createChanges(options: PipelineOptions): readonly Pipeline[] {
  const { stage, workload, deploy, change } = createStages(options);
  /** Deploys versions of a Deployment, then changes it. */
  const changed = (name: string, changes: (readonly [type: string, more?: JsonObject])[], versions = 1) => {
    const object = `orca-${name.replaceAll(' ', '-')}`;
    const deploys = Array.from({ length: versions }, (_, version) =>
      deploy([workload('Deployment', object, { version })]),
    );
    return toPipeline(name, [
      ...deploys,
      ...changes.map(([type, more]) => change(type, `deployment ${object}`, more)),
    ]);
  };
  const patchBody = { metadata: { annotations: { 'busdriver.test/patched': 'true' } } };
  const patch = { source: 'text', options: { mergeStrategy: 'strategic', record: true }, patchBody };
  const dynamic = {
    mode: 'dynamic',
    kind: 'replicaSet',
    cluster: 'replicaSet orca-switch',
    criteria: 'newest',
  };
  return [
    changed('scale', [['scaleManifest', { replicas: '2' }]]),
    changed('undo', [['undoRolloutManifest', { numRevisionsBack: 1 }]], 2),
    changed('pause and resume', [['pauseRolloutManifest'], ['resumeRolloutManifest']]),
    changed('restart', [['rollingRestartManifest']]),
    changed('patch', [['patchManifest', patch]]),
    changed('find artifacts', [['findArtifactsFromResource']]),
    toPipeline('disable and enable by criteria', [
      ...[1, 2].map((each) => deploy([workload('ReplicaSet', 'orca-switch', { version: each })])),
      ...['disableManifest', 'enableManifest'].map((type) =>
        stage(type, { location: options.namespace, ...dynamic }),
      ),
    ]),
  ];
}

function createEnds(options: PipelineOptions): readonly Pipeline[] {
  const { stage, workload, deploy, change, runJob } = createStages(options);
  const never = workload('Deployment', 'orca-never', { of: 'registry.invalid/never:1' });
  const missing = change('scaleManifest', 'deployment orca-none', { replicas: 1 });
  const selectors = Object.entries(mark).map(([key, value]) => ({ kind: 'EQUALS', key, values: [value] }));
  const kinds = ['deployment', 'statefulSet', 'replicaSet', 'configMap', 'secret', 'service', 'job'];
  const target = { location: options.namespace, mode: 'label', kinds, labelSelectors: { selectors } };
  const jobs = [runJob('orca-job', 'true'), runJob('orca-fails', 'false')];
  return [
    toPipeline('a Job that succeeds, then one that fails', jobs, 'TERMINAL'),
    toPipeline('fail: there is no such object', [missing], 'TERMINAL'),
    toPipeline('cancel while it waits for pods', [deploy([never])], 'CANCELED'),
    toPipeline('delete all by labels', [
      stage('deleteManifest', { ...target, options: { cascading: true } }),
    ]),
  ];
}
