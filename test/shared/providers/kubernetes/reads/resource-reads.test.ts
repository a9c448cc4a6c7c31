import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createPod, createReplicaSet } from '../views/sample-manifests.ts';
import { openAccount } from './cached-accounts.ts';

const open = useLocalTables();

describe('raw resources', () => {
  const objects = [createReplicaSet('web-1'), createPod('web-1-a', { owner: 'web-1' }), createPod('web-2')];
  const names = async (settings?: JsonObject) => {
    const { reader } = await openAccount(open, { objects, settings });
    const { value } = await reader.listRawResources('shop');
    return value.map((view) => (view as { name: string }).name).sort();
  };

  test('are server groups and what else belongs to an application by itself, as pods do not', async () => {
    expect(await names()).toEqual(['replicaSet web-1']);
  });

  test('are pods, too, where objects of every kind belong to their application', async () => {
    const settings = { cacheAllApplicationRelationships: true };
    expect(await names(settings)).toEqual(['pod web-1-a', 'pod web-2', 'replicaSet web-1']);
    expect(await names({ ...settings, omitKinds: ['pod'] })).toEqual(['replicaSet web-1']);
  });
});
