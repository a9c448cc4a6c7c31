import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { setUpEnvironment, testOperation } from '#test/support/conformance/operation.ts';
import { createKubernetesCloud } from './kubernetes-cloud.ts';
import { operationSpecs } from './specs/index.ts';

describeWithCluster('each Kubernetes operation', (cluster) => {
  const environment = setUpEnvironment(createKubernetesCloud(cluster));
  for (const [name, spec] of operationSpecs) testOperation(name, spec, environment);
});
