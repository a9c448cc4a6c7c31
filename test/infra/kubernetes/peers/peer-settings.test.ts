import { describe, expect, test } from 'vitest';
import { parsePeerSettings } from '#infra/kubernetes/peers/peer-settings.ts';

describe('the settings of peers', () => {
  test('are by default those of the plug-in: names that begin with spin-clouddriver, and a port named http', () => {
    const usual = { namePrefix: 'spin-clouddriver', portName: 'http', api: 'auto' };
    expect(parsePeerSettings({})).toEqual(usual);
    expect(parsePeerSettings({ kubesvc: { cluster: 'kubernetes' } })).toEqual(usual);
  });

  test('are read where the plug-in reads them', () => {
    const chosen = { clouddriverServiceNamePrefix: 'cd-', httpPortName: 'rest', api: 'endpointslices' };
    expect(parsePeerSettings({ kubesvc: { 'cluster-kubernetes': chosen } })).toEqual({
      ...{ namePrefix: 'cd-', portName: 'rest', api: 'endpointslices' },
    });
  });

  test('are none where each replica is alone', () => {
    expect(parsePeerSettings({ kubesvc: { cluster: 'local' } })).toBeUndefined();
  });

  test.each([
    [{ cluster: 'redis' }, 'kubesvc.cluster'],
    [{ 'cluster-kubernetes': { api: 'pods' } }, 'kubesvc.cluster-kubernetes.api'],
    [{ 'cluster-kubernetes': { httpPortName: 'a b' } }, 'kubesvc.cluster-kubernetes.httpPortName'],
    [{ 'cluster-kubernetes': { httpPortName: '' } }, 'kubesvc.cluster-kubernetes.httpPortName'],
    [
      { 'cluster-kubernetes': { clouddriverServiceNamePrefix: 'x'.repeat(254) } },
      'kubesvc.cluster-kubernetes.clouddriverServiceNamePrefix',
    ],
  ])('%j is refused by name', (kubesvc, path) => {
    expect(() => parsePeerSettings({ kubesvc })).toThrow(path);
  });
});
