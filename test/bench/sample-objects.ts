/** A Deployment as the bench deploys it: with one pod, so that the cluster's controllers work as they would. */
export function toDeployment(options: { namespace: string; name: string; revision: number }): {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; labels: { [name: string]: string } };
  spec: object;
} {
  const { namespace, name, revision } = options;
  const container = {
    name: 'main',
    image: `example.invalid/app:${revision}`,
    ports: [{ containerPort: 8080 }],
    resources: { requests: { cpu: '1m', memory: '1Mi' } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
    },
  };
}

/** A ConfigMap that is replaced in place: no version is added to its name. */
export function toConfigMap({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const annotations = { 'strategy.spinnaker.io/versioned': 'false' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, annotations } };
}

/** What the bench deploys belongs to it. */
export const application = 'bench';

export interface SampleDeploy {
  readonly account: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
}

export function toDeployRequest(options: SampleDeploy): object[] {
  return toManifestRequest({ account: options.account, application, manifest: toDeployment(options) });
}

/** The request by which an application gets a ConfigMap: servers that know only what they deployed know the application by it. */
export function toIntroduction(options: {
  readonly account: string;
  readonly namespace: string;
  readonly application: string;
}): object[] {
  const { account, namespace, application } = options;
  return toManifestRequest({
    account,
    application,
    manifest: toConfigMap({ namespace, name: 'bench-introduction' }),
  });
}

/** The request that deploys one manifest into an application. */
export function toManifestRequest(options: {
  readonly account: string;
  readonly application: string;
  readonly manifest: object;
}): object[] {
  const { account, application, manifest } = options;
  const moniker = { app: application };
  const description = {
    account,
    cloudProvider: 'kubernetes',
    moniker,
    source: 'text',
    manifests: [manifest],
  };
  return [{ deployManifest: description }];
}
