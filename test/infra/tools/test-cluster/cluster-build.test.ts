import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { buildCluster, findProjectRoot } from '#infra/tools/test-cluster/cluster-build.ts';
import { makeTempDir, writeProgram } from '#test/support/run/temp-dir.ts';

test('the same sources are built once, with progress', async () => {
  await using project = await makeProject();
  const first = await project.build();
  expect(first.lines).toEqual([
    expect.stringMatching(/^Building the Kubernetes .* \(once, about 5 minutes\) … 0 s$/),
  ]);
  expect(await readFile(first.kubecluster, 'utf8')).toBe('kubecluster by go9.9.9');
  expect(await readFile(first.kubectl, 'utf8')).toBe('kubectl by go9.9.9');
  expect(await project.build()).toEqual({ ...first, lines: [] });
  expect(await project.countBuilds()).toBe(1);
});

test('progress says what part of it is done', async () => {
  await using project = await makeProject({
    buildScript: `
      echo 'go: downloading k8s.io/api v0.36.3' >&2
      sleep 0.3
      for package in fmt net/http k8s.io/api/core/v1; do echo $package >&2; done
      sleep 0.3`,
  });
  await project.installGo(
    '9.9.9',
    'if [ $1 = list ]; then printf "fmt\\nnet/http\\nk8s.io/api/core/v1\\nmain\\n"; exit; fi',
  );
  const { lines } = await project.build({ progressIntervalMs: 20 });
  const parts = lines.map((line) => line.replace(/^.* s/, ''));
  expect(parts).toEqual(
    expect.arrayContaining([
      '',
      ': 1 Go modules downloaded, nothing compiled yet',
      ': 3 of 4 packages compiled',
    ]),
  );
  expect(parts.at(-1)).toBe(': 3 of 4 packages compiled');
});

test('a changed source, or another Go, is another build; a changed Go test is not', async () => {
  await using project = await makeProject();
  const first = await project.build();
  await project.writeSource('main_test.go', 'package main');
  expect((await project.build()).kubecluster).toBe(first.kubecluster);
  await project.writeSource('main.go', 'package other');
  const second = await project.build();
  expect(second.kubecluster).not.toBe(first.kubecluster);
  await project.installGo('9.9.10');
  const third = await project.build();
  expect(third.kubecluster).not.toBe(second.kubecluster);
  expect(await project.countBuilds()).toBe(3);
});

test('two builders at once share one build', async () => {
  await using project = await makeProject({ buildScript: 'sleep 0.7' });
  const [one, two] = await Promise.all([project.build(), project.build()]);
  expect(one.kubecluster).toBe(two.kubecluster);
  expect([...one.lines, ...two.lines].sort()).toEqual([
    expect.stringMatching(/^Building .* … 0 s$/),
    expect.stringMatching(/^Waiting for another process .* … 0 s$/),
  ]);
  expect(await project.countBuilds()).toBe(1);
});

test('a failed build tells the end of what Go wrote, leaves nothing, and can be repeated', async () => {
  await using project = await makeProject({ buildScript: 'seq 100 >&2; exit 1' });
  await expect(project.build()).rejects.toThrow(
    /^Go could not build .* GOPROXY.*:\n81\n82\n(\d+\n)*99\n100$/,
  );
  expect(await readdir(project.cache)).toEqual([]);
  await project.writeBuildScript('');
  await project.build();
});

test('an aborted build ends and leaves nothing', async () => {
  await using project = await makeProject({ buildScript: 'exec sleep 60' });
  const abort = new AbortController();
  const building = project.build({ signal: abort.signal, report: () => abort.abort() });
  await expect(building).rejects.toMatchObject({ name: 'AbortError' });
  expect(await readdir(project.cache)).toEqual([]);
});

test('what nobody used for two weeks is removed after a build', async () => {
  await using project = await makeProject();
  for (const [name, days] of [
    ['old', 15],
    ['recent', 13],
  ] as const) {
    const dir = path.join(project.cache, name);
    await mkdir(dir, { recursive: true });
    const usedAt = new Date(Date.now() - days * 24 * 3_600_000);
    await utimes(dir, usedAt, usedAt);
  }
  const { kubecluster } = await project.build();
  expect((await readdir(project.cache)).sort()).toEqual(
    [path.basename(path.dirname(kubecluster)), 'recent'].sort(),
  );
});

test("Busdriver's folder is found upwards, and its absence is an error that says what to do", async () => {
  await using dir = await makeTempDir();
  const deep = path.join(dir.path, 'dist', 'local');
  await mkdir(deep, { recursive: true });
  await writeFile(path.join(dir.path, 'dist', 'package.json'), '{"type":"module"}');
  await expect(findProjectRoot(deep)).rejects.toThrow(/not found upwards from .*: pass --kubeconfig FILE/);
  await writeFile(path.join(dir.path, 'package.json'), '{"name":"busdriver"}');
  expect(await findProjectRoot(deep)).toBe(dir.path);
});

/** A project whose build takes no time: its Go only tells a version, its build script writes two texts. */
async function makeProject({ buildScript = '' } = {}) {
  const dir = await makeTempDir();
  const source = path.join(dir.path, 'test', 'cluster');
  const cache = path.join(dir.path, 'cache', 'cluster');
  const goCommand = path.join(dir.path, 'go');
  const count = path.join(dir.path, 'count');
  await mkdir(source, { recursive: true });
  await writeFile(count, '');
  const project = {
    cache,
    writeSource: (name: string, content: string) => writeFile(path.join(source, name), content),
    installGo: (version: string, further = '') =>
      writeProgram(goCommand, `${further}\necho go version go${version} linux/amd64`),
    writeBuildScript: (script: string) =>
      writeProgram(
        path.join(source, 'build.sh'),
        `echo built >> ${count}
        ${script}
        version=$("$2" version | cut -d' ' -f3)
        for name in kubecluster kubectl; do printf '%s by %s' $name $version > "$1/$name"; done`,
      ),
    async build(options: { signal?: AbortSignal; report?: () => void; progressIntervalMs?: number } = {}) {
      const lines: string[] = [];
      const report = (line: string) => {
        lines.push(line);
        options.report?.();
      };
      const { signal, progressIntervalMs } = options;
      const cacheDir = path.dirname(cache);
      const built = await buildCluster({
        projectRoot: dir.path,
        cacheDir,
        goCommand,
        report,
        signal,
        progressIntervalMs,
      });
      return { ...built, lines };
    },
    countBuilds: async () => (await readFile(count, 'utf8')).split('\n').length - 1,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
  await project.installGo('9.9.9');
  await project.writeBuildScript(buildScript);
  await project.writeSource('main.go', 'package main');
  return project;
}
