import { describe, expect, test } from 'vitest';
import { findEnvironmentProxy } from '#providers/kubernetes/credentials/environment-proxy.ts';

const proxy = 'http://proxy.example:3128';

function find(server: string, environment: { [name: string]: string }): string | undefined {
  return findEnvironmentProxy(new URL(server), environment);
}

describe('the proxy of the environment', () => {
  test.each([
    ['https://k8s.example', { HTTPS_PROXY: proxy }, proxy],
    ['https://k8s.example', { https_proxy: proxy }, proxy],
    ['https://k8s.example', { HTTPS_PROXY: proxy, https_proxy: 'http://other' }, proxy],
    ['https://k8s.example', { HTTPS_PROXY: 'proxy.example:3128' }, proxy],
    [
      'https://k8s.example',
      { HTTPS_PROXY: 'https://user:secret@proxy.example' },
      'https://user:secret@proxy.example',
    ],
    ['https://k8s.example', { HTTP_PROXY: proxy }, undefined],
    ['http://k8s.example', { HTTP_PROXY: proxy }, proxy],
    ['https://k8s.example', { HTTPS_PROXY: '' }, undefined],
    ['https://k8s.example', {}, undefined],
  ])('of %s with %o is %s', (server, environment, expected) => {
    expect(find(server, environment as { [name: string]: string })).toBe(expected);
  });

  test.each(['https://localhost:6443', 'https://127.0.0.1:6443', 'https://127.3.2.1', 'https://[::1]:6443'])(
    'is not for %s',
    (server) => expect(find(server, { HTTPS_PROXY: proxy })).toBeUndefined(),
  );

  test.each([
    ['https://k8s.example', '*'],
    ['https://k8s.example', 'other, k8s.example'],
    ['https://K8S.Example', 'k8s.EXAMPLE'],
    ['https://a.k8s.example', 'k8s.example'],
    ['https://a.k8s.example', '.k8s.example'],
    ['https://a.k8s.example', '*.k8s.example'],
    ['https://k8s.example:6443', 'k8s.example:6443'],
    ['https://k8s.example', 'k8s.example:443'],
    ['https://10.1.2.3', '10.1.2.3'],
    ['https://10.1.2.3', '10.0.0.0/8'],
    ['https://[fd00::5]:6443', 'fd00::/8'],
    ['https://[fd00::5]:6443', '[fd00::5]:6443'],
  ])('is not for %s with NO_PROXY %s', (server, noProxy) => {
    expect(find(server, { HTTPS_PROXY: proxy, no_proxy: noProxy })).toBeUndefined();
  });

  test.each([
    ['https://k8s.example', '.k8s.example'],
    ['https://myk8s.example', 'k8s.example'],
    ['https://k8s.example:6443', 'k8s.example:443'],
    ['https://11.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', '10.0.0.0/99'],
    ['https://10.1.2.3', '::/0'],
    ['https://k8s.example', ',,'],
    ['https://k8s.example', 'ex.mple,10.0.0.0/8,/,:,['],
  ])('is for %s with NO_PROXY %s', (server, noProxy) => {
    expect(find(server, { HTTPS_PROXY: proxy, NO_PROXY: noProxy })).toBe(proxy);
  });

  test.each(['socks5://user:secret@proxy.example', 'http://', 'ftp://proxy'])('is refused: %s', (value) => {
    expect(() => find('https://k8s.example', { HTTPS_PROXY: value })).toThrow(
      /^the environment variable HTTPS_PROXY must be the URL of an http or https proxy$/,
    );
  });
});
