/** A Deployment as the bench deploys it: without Pods, so that no controller competes for the machine. */
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
    resources: { requests: { cpu: '100m', memory: '64Mi' } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
    },
  };
}

/** The request by which Orca deploys it. */
export function toDeployRequest(options: {
  account: string;
  namespace: string;
  name: string;
  revision: number;
}): object[] {
  const description = {
    account: options.account,
    cloudProvider: 'kubernetes',
    moniker: { app: 'bench' },
    source: 'text',
    manifests: [toDeployment(options)],
  };
  return [{ deployManifest: description }];
}
