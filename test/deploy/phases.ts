import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { deployStacks, destroyStacks, measureAssembly, synthesizeStacks } from './cdk.ts';
import type { DeployRun } from './deploy-run.ts';
import {
  describeInstallationWithAgents,
  describePrivateInstallation,
  describeTestedInstallation,
  domainName,
  privateName,
  readMadeSecret,
} from './installation.ts';
import { listApis } from './inventory.ts';
import type { Phase, PhaseResult } from './phase.ts';
import type { PhaseOutput } from './phase-output.ts';
import { runTests } from './test-runs.ts';
import { releasedName, unprotectedName, writeUpdateAssemblies } from './update-assemblies.ts';

const testedAssembly = 'tested';
const privateAssembly = 'private';
const destroyed = 'cdk destroy --all left no function, table, queue or API';

/** Writes the templates of the tested installation. */
export const synthesizeTested: Phase = makeSynthesis(describeTestedInstallation);

/** Writes those of one that serves agents, too. */
export const synthesizeWithAgents: Phase = makeSynthesis(describeInstallationWithAgents);

function makeSynthesis(describe: typeof describeTestedInstallation): Phase {
  return {
    name: 'synthesize',
    async run({ assemblies, secrets, cdk }) {
      const assembly = path.join(assemblies, testedAssembly);
      await synthesizeStacks(assembly, describe(secrets.authorizer), cdk);
      const { stacks, nestedStacks, resources } = await measureAssembly(assembly);
      return { remark: `${stacks} stacks and ${nestedStacks} nested ones with ${resources} resources` };
    },
  };
}

/** Deploys it into an account that is new. */
export const deployTested: Phase = makeDeploy(testedAssembly, domainName);

/** Deletes it. */
export const destroyTested: Phase = {
  name: 'destroy',
  async run(run) {
    await run.destroy(path.join(run.assemblies, testedAssembly));
    return { remark: destroyed };
  },
};

function makeDeploy(assembly: string, name?: string): Phase {
  return {
    name: 'deploy',
    async run(run) {
      const { functions, tables, queues, apis } = await run.deploy(path.join(run.assemblies, assembly), name);
      const counts = [
        `${functions.length} functions`,
        `${tables.length} tables`,
        `${queues.length} queues`,
        `${apis.length} REST API`,
      ];
      return { remark: `cdk bootstrap and cdk deploy --all made ${counts.join(', ')}` };
    },
  };
}

/** Writes the templates of an earlier release, and those of each choice of options that it is updated to. */
export const synthesizeUpdates: Phase = {
  name: 'synthesize',
  async run({ assemblies, secrets }) {
    const others = { [privateAssembly]: describePrivateInstallation() };
    const count = await writeUpdateAssemblies(assemblies, secrets, others);
    return { remark: `templates for ${count} choices of options` };
  },
};

/** Deploys the earlier release. */
export const deployReleased: Phase = makeDeploy(releasedName);

/** Deletes what has become of it; first its protection, where the update did not come so far. */
export const destroyUpdated: Phase = {
  name: 'destroy',
  async run(run) {
    const assembly = path.join(run.assemblies, unprotectedName);
    await deployStacks(assembly, run.cdk);
    await run.destroy(assembly);
    return { remark: destroyed };
  },
};

/** Runs test files against what is deployed, by vitest. */
export function makeTests(name: string, filters: readonly string[]): Phase {
  return { name, run: (run, output) => test(run, { name, filters, output }) };
}

const acceptance = path.join(import.meta.dirname, '../acceptance');

/** Runs those acceptance tests that take the deployed system for their subject, and says which do not. */
export async function testAcceptance(run: DeployRun, output: PhaseOutput): Promise<PhaseResult> {
  const entries = await readdir(acceptance, { recursive: true });
  const names = entries.filter((name) => name.endsWith('.test.ts')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(path.join(acceptance, name), 'utf8')));
  const isAbout = (index: number) => texts[index]?.includes('/support/system/subject.ts') ?? false;
  const others = names.filter((_, index) => !isAbout(index));
  output.write(`About this machine alone, and not run: ${others.join(', ')}`);
  const files = names.filter((_, index) => isAbout(index)).map((name) => path.join(acceptance, name));
  return test(run, { name: 'acceptance', filters: [...files, 'test/deploy/front-door'], output });
}

interface TestPhase {
  readonly name: string;
  /** Parts of paths of test files. */
  readonly filters: readonly string[];
  readonly output: PhaseOutput;
}

async function test(run: DeployRun, { name, filters, output }: TestPhase): Promise<PhaseResult> {
  const { clusterOffer, folder } = run;
  const environment = { deployment: run.getDeployment(), clusterOffer };
  const resultFile = path.join(folder, `${name}.json`);
  const counts = await runTests({ filters, environment, resultFile, output });
  return { counts, remark: 'against the deployed API' };
}

/** A private installation deploys too, and its functions answer; the emulator lets everybody through to its authorizer. */
export async function tryPrivateInstallation(run: DeployRun): Promise<PhaseResult> {
  const assembly = path.join(run.assemblies, privateAssembly);
  await deployStacks(assembly, run.cdk);
  const { endpoint } = run.ministack;
  const api = (await listApis(endpoint)).find(({ name }) => name === `${privateName}-api`);
  const url = `${endpoint}/restapis/${api?.id}/live/_user_request_/health`;
  const stranger = await fetch(url);
  await stranger.body?.cancel();
  const answer = await fetch(url, { headers: { authorization: `Bearer ${await readMadeSecret(endpoint)}` } });
  const body = await answer.text();
  await destroyStacks(assembly, run.cdk);
  const isUp = stranger.status === 401 && answer.status === 200 && body === '{"status":"UP"}';
  const counts = { passed: isUp ? 1 : 0, failed: isUp ? 0 : 1, skipped: 0 };
  return {
    counts,
    remark: isUp
      ? 'a private API deploys beside it, and answers who knows the secret that it made'
      : `GET /health: ${answer.status} ${body}, without the secret ${stranger.status}`,
  };
}
