import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { setUpEnvironment, testOperation } from '#test/support/conformance/operation.ts';
import { createKubernetesCloud } from '../../operations/kubernetes-cloud.ts';
import { v1OperationSpecs } from './specs/index.ts';

describeWithCluster('each operation of V1 accounts', (cluster) => {
  const common = { providerVersion: 'v1', dockerRegistries: [{ accountName: 'hub' }] };
  const cloud = createKubernetesCloud(cluster, { common, everywhere: { namespaces: ['*'] } });
  const environment = setUpEnvironment(cloud);
  for (const [name, spec] of v1OperationSpecs) testOperation(name, spec, environment);
});
