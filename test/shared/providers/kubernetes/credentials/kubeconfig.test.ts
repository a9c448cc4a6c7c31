import { describe, expect, test } from 'vitest';
import { parseKubeconfigContext } from '#providers/kubernetes/credentials/kubeconfig.ts';

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: blue
clusters:
- {name: b, cluster: {server: "https://b:6443", certificate-authority-data: QQ==}}
- {name: g, cluster: {server: "https://g:6443", tls-server-name: g.example.com, proxy-url: "http://proxy:3128", insecure-skip-tls-verify: true}}
contexts:
- {name: blue, context: {cluster: b, user: token, namespace: shop}}
- {name: green, context: {cluster: g, user: plugin}}
- {name: nobody, context: {cluster: g}}
- {name: lost, context: {cluster: nowhere, user: token}}
- {name: orphan, context: {cluster: b, user: missing}}
users:
- {name: token, user: {token: secret-token, as: jane, as-groups: [dev, ops], as-user-extra: {Reason: [test]}}}
- {name: token, user: {token: shadowed}}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: aws
      args: [eks, get-token, --cluster-name, 7]
      env: [{name: AWS_PROFILE, value: prod}]
      provideClusterInfo: true
`;

describe('a context', () => {
  test('is the current one unless another is named', () => {
    expect(parseKubeconfigContext(kubeconfig)).toMatchObject({
      name: 'blue',
      namespace: 'shop',
      cluster: { server: 'https://b:6443', caData: 'QQ==', skipTLSVerify: false },
      user: { token: 'secret-token' },
    });
    expect(parseKubeconfigContext(kubeconfig, { context: 'green' })).toMatchObject({
      namespace: undefined,
      cluster: {
        server: 'https://g:6443',
        tlsServerName: 'g.example.com',
        proxyUrl: 'http://proxy:3128',
        skipTLSVerify: true,
      },
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1beta1',
          command: 'aws',
          args: ['eks', 'get-token', '--cluster-name', '7'],
          env: { AWS_PROFILE: 'prod' },
          provideClusterInfo: true,
          interactiveMode: 'IfAvailable',
        },
      },
    });
  });

  test('may have no user at all', () => {
    expect(parseKubeconfigContext(kubeconfig, { context: 'nobody' }).user).toMatchObject({
      token: undefined,
      exec: undefined,
    });
  });

  test('gives way to a user and a cluster that are named', () => {
    expect(parseKubeconfigContext(kubeconfig, { user: 'plugin' })).toMatchObject({
      name: 'blue',
      namespace: 'shop',
      cluster: { server: 'https://b:6443' },
      user: { token: undefined, exec: { command: 'aws' } },
    });
    expect(
      parseKubeconfigContext(kubeconfig, { context: 'green', user: 'token', cluster: 'b' }),
    ).toMatchObject({ cluster: { server: 'https://b:6443' }, user: { token: 'secret-token' } });
    // Not even where the context's own are missing.
    expect(parseKubeconfigContext(kubeconfig, { context: 'lost', cluster: 'g' }).cluster.server).toBe(
      'https://g:6443',
    );
  });

  test('carries whom to act as', () => {
    expect(parseKubeconfigContext(kubeconfig).user.impersonation).toEqual({
      'impersonate-user': 'jane',
      'impersonate-group': ['dev', 'ops'],
      'impersonate-extra-reason': ['test'],
    });
  });
});

test.each([
  ['pink', 'context "pink" does not exist (it has "blue", "green", "nobody", "lost", "orphan")'],
  ['lost', 'context "lost" names the cluster "nowhere", which is missing'],
  ['orphan', 'context "orphan" names the user "missing", which is missing'],
])('a context that cannot be: %s', (context, message) => {
  expect(() => parseKubeconfigContext(kubeconfig, { context })).toThrow(message);
});

test.each([
  [{ user: 'root' }, 'user "root" does not exist (it has "token", "plugin")'],
  [{ cluster: 'x' }, 'cluster "x" does not exist (it has "b", "g")'],
])('a choice that cannot be: %j', (choice, message) => {
  expect(() => parseKubeconfigContext(kubeconfig, choice)).toThrow(message);
});

test.each([
  ['', 'it is empty or no YAML mapping'],
  ['just words', 'it is empty or no YAML mapping'],
  ['{}', "no context is chosen: set the account's context or current-context (it has none)"],
  ['contexts: [{name: a, context: {cluster: c}}]', 'current-context (it has "a")'],
  [
    'current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\nclusters: [{name: c}]',
    'cluster "c" has no server',
  ],
])('a kubeconfig that says too little: %j', (text, message) => {
  expect(() => parseKubeconfigContext(text)).toThrow(message);
});

test('a kubeconfig that is broken shows where, and nothing of what it holds', () => {
  const broken = 'users:\n- name: a\n  user:\n    token: "secret-token\n';
  expect(() => parseKubeconfigContext(broken)).toThrow(/^it is not valid YAML \(line \d\)$/);
});
