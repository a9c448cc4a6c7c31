import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { makeTempDir, writeProgram } from '../run/temp-dir.ts';
import { getJars } from './java-engines.ts';
import { describeWithJavaEngine } from './java-suite.ts';

/** What `java --list-modules` of a development kit prints. */
const modernJava = 'echo java.base@21.0.2; echo jdk.compiler@21.0.2';

/** A Maven that takes its time, puts a jar where it is asked to, and writes down that it ran. */
const slowMaven = `
for argument in "$@"; do case "$argument" in -DoutputDirectory=*) folder="\${argument#*=}" ;; esac; done
sleep 0.5
echo jar > "$folder/engine.jar"
echo ran >> "$0.runs"`;

describe('getJars()', () => {
  it.each([
    { java: 'exit 1', problem: 'was not found, or is older than Java 9' },
    { java: 'echo java.base@17.0.1', problem: 'is without a compiler' },
    { java: 'echo jdk.compiler@11.0.2', problem: 'is Java 11' },
  ])('says what is wrong with Java: $problem', async ({ java, problem }) => {
    await using dir = await makeTempDir();
    const javaCommand = await writeProgram(path.join(dir.path, 'java'), java);
    await expect(getJars('elasticmq', { cacheDir: dir.path, javaCommand })).rejects.toThrow(
      `ElasticMQ 1.7.1 needs a Java development kit >= 17, but '${javaCommand}' ${problem}`,
    );
  });

  it('says that Maven is missing', async () => {
    await using machine = await prepareMachine();
    const mavenCommand = path.join(machine.cacheDir, 'no-maven');
    await expect(getJars('elasticmq', { ...machine, mavenCommand })).rejects.toThrow(
      `could not be downloaded: '${mavenCommand}' was not found: install Apache Maven`,
    );
  });

  it('says why Maven failed, and leaves nothing behind', async () => {
    await using machine = await prepareMachine(
      String.raw`printf '\033[0m[ERROR] \n[ERROR] no network\n[ERROR] more\n'; exit 1`,
    );
    await expect(getJars('elasticmq', machine)).rejects.toThrow(/could not be downloaded: no network$/);
    expect(await readdir(path.join(machine.cacheDir, 'engines'))).toEqual([]);
  });

  it('downloads once for all who ask at a time, and for all later ones', async () => {
    await using machine = await prepareMachine(slowMaven);

    const folders = await Promise.all([1, 2, 3].map(() => getJars('elasticmq', machine)));
    folders.push(await getJars('elasticmq', machine));

    expect(new Set(folders).size).toBe(1);
    expect(await readdir(folders[0] ?? '')).toEqual(['engine.jar']);
    expect(await readdir(path.join(machine.cacheDir, 'engines'))).toHaveLength(1);
    expect(await readFile(`${machine.mavenCommand}.runs`, 'utf8')).toBe('ran\n');
  });
});

await describeWithJavaEngine('elasticmq', (start) => {
  it('can be reached from this machine alone, until it is disposed of', async () => {
    const engine = await start();
    expect((await fetch(engine.url)).status).toBeLessThan(500);
    for (const address of listOuterAddresses()) {
      await expect(fetch(engine.url.replace('127.0.0.1', address))).rejects.toThrow();
    }
    await engine[Symbol.asyncDispose]();
    await expect(fetch(engine.url)).rejects.toThrow();
  });

  it('ends with the process that started it, even by kill -9', async () => {
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', startAndTell]);
    const [url] = (await once(createInterface(parent.stdout), 'line')) as [string];
    expect((await fetch(url)).status).toBeLessThan(500);
    parent.kill('SIGKILL');
    await expect.poll(() => isServed(url)).toBe(false);
  });
});

const startAndTell = `
import { getJars, startJavaEngine } from '${new URL('java-engines.ts', import.meta.url)}';
const { url } = await startJavaEngine('elasticmq', await getJars('elasticmq'));
console.log(url);
`;

/** Options for a machine with a Java and, if a script is given, this Maven; its cache is empty. */
async function prepareMachine(mavenScript = 'exit 1') {
  const dir = await makeTempDir();
  return {
    cacheDir: path.join(dir.path, 'cache'),
    javaCommand: await writeProgram(path.join(dir.path, 'java'), modernJava),
    mavenCommand: await writeProgram(path.join(dir.path, 'mvn'), mavenScript),
    report: () => undefined,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

async function isServed(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

/** This machine's addresses that others can reach. */
function listOuterAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  return addresses
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);
}
