import { afterAll, expect, test } from 'vitest';
import { getPath } from '#core/json.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { findLive } from '../live.ts';
import { createConfigMap, createWorkload } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, listHistory, runOperation } from './task-run.ts';

describeWithCluster('texts of metadata in deployManifest', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());

  test('numbers and truths in annotations and labels are deployed as texts, with a warning', async () => {
    await using ns = await createNamespace();
    const annotations = { build: 7, stable: true, 'strategy.spinnaker.io/versioned': false };
    const flags = createConfigMap(
      'flags',
      { a: '1' },
      { namespace: ns.name, annotations, labels: { version: 1.5 } },
    );
    const web = createWorkload('Deployment', 'web', { namespace: ns.name, replicas: 0 });
    const template = {
      metadata: { labels: { app: 'web', release: 3, track: 1 } },
      spec: getPath(web, 'spec', 'template', 'spec') ?? {},
    };
    const record = emptyRecord();
    const description = {
      ...{ account: 'test', moniker: { app: 'shop' } },
      manifests: [
        flags,
        { ...web, spec: { selector: { matchLabels: { app: 'web', track: 1 } }, replicas: 0, template } },
      ],
    };
    await runOperation(getOperation(provider, 'deployManifest'), description, { record });
    const live = await findLive(ns.name, 'configmaps/flags');
    expect(live).toMatchObject({
      metadata: { annotations: { build: '7', stable: 'true' }, labels: { version: '1.5' } },
    });
    expect(await findLive(ns.name, 'deployments/web')).toHaveProperty(
      'spec.template.metadata.labels.release',
      '3',
    );
    const warnings = listHistory(record).filter((line) => line.startsWith('Warning'));
    expect(warnings).toEqual([
      'Warning about configMap flags: values of annotations and labels must be texts; these were made texts: metadata.annotations.build, metadata.annotations.stable, metadata.annotations.strategy.spinnaker.io/versioned, metadata.labels.version',
      'Warning about deployment web: values of annotations and labels must be texts; these were made texts: spec.template.metadata.labels.release, spec.template.metadata.labels.track, spec.selector.matchLabels.track',
    ]);
    // Nothing is different the next time.
    await runOperation(getOperation(provider, 'deployManifest'), description);
    expect(await findLive(ns.name, 'configmaps/flags')).toEqual(live);
  });
});
