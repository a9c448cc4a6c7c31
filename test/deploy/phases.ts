import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { deployStacks, destroyStacks, synthesizeStacks } from './cdk.ts';
import type { DeployRun } from './deploy-run.ts';
import { describePrivateInstallation, privateName } from './installation.ts';
import { listApis } from './inventory.ts';
import { runTests, type TestCounts } from './test-runs.ts';

/** How a phase ended: in words, and with how its tests came out where it has some. */
export interface PhaseResult {
  readonly remark: string;
  readonly counts?: TestCounts;
}

/** A part of the run, timed and told on its own. */
export interface Phase {
  readonly name: string;
  /** @throws Error when what follows makes no sense any more */
  run(run: DeployRun): Promise<PhaseResult>;
}

/** What makes the stacks ready to be tested. */
export const deployPhases: readonly Phase[] = [
  {
    name: 'synthesize',
    async run(run) {
      const { stacks, nestedStacks, resources } = await run.synthesize();
      return { remark: `${stacks} stacks and ${nestedStacks} nested ones with ${resources} resources` };
    },
  },
  {
    name: 'deploy',
    async run(run) {
      const { functions, tables, queues, apis } = await run.deploy();
      const counts = [
        `${functions.length} functions`,
        `${tables.length} tables`,
        `${queues.length} queues`,
        `${apis.length} REST API`,
      ];
      return { remark: `cdk bootstrap and cdk deploy --all made ${counts.join(', ')}` };
    },
  },
];

/** What is tested, one after the other. */
export const testPhases: readonly Phase[] = [
  { name: 'acceptance', run: testAcceptance },
  { name: 'facts', run: (run) => test(run, 'facts', ['test/deploy/account-facts']) },
  { name: 'guarantees', run: (run) => test(run, 'guarantees', ['test/deploy/guarantees']) },
  { name: 'update', run: (run) => test(run, 'update', ['test/deploy/update']) },
  { name: 'large-reads', run: (run) => test(run, 'large-reads', ['test/deploy/large-reads']) },
  { name: 'fuzz', run: (run) => test(run, 'fuzz', ['test/deploy/fuzz']) },
  { name: 'private', run: tryPrivateInstallation },
];

/** What takes the stacks away again. */
export const destroyPhase: Phase = {
  name: 'destroy',
  async run(run) {
    await run.destroy();
    return { remark: 'cdk destroy --all left no function, table, queue or API' };
  },
};

const acceptance = path.join(import.meta.dirname, '../acceptance');

/** Runs those acceptance tests that take the deployed system for their subject, and says which do not. */
async function testAcceptance(run: DeployRun): Promise<PhaseResult> {
  const names = (await readdir(acceptance)).filter((name) => name.endsWith('.test.ts'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(acceptance, name), 'utf8')));
  const isAbout = (index: number) => texts[index]?.includes('/support/subject.ts') ?? false;
  const others = names.filter((_, index) => !isAbout(index));
  console.log(`About this machine alone, and not run: ${others.join(', ')}`);
  const files = names.filter((_, index) => isAbout(index)).map((name) => path.join(acceptance, name));
  return test(run, 'acceptance', [...files, 'test/deploy/front-door']);
}

async function test(run: DeployRun, name: string, filters: readonly string[]): Promise<PhaseResult> {
  const { clusterOffer, folder } = run;
  const surroundings = { deployment: run.getDeployment(), clusterOffer };
  const counts = await runTests({ filters, surroundings, resultFile: path.join(folder, `${name}.json`) });
  return { counts, remark: 'against the deployed API' };
}

/** The default installation deploys too, and its functions answer; the emulator lets everybody call a private API. */
async function tryPrivateInstallation(run: DeployRun): Promise<PhaseResult> {
  const assembly = path.join(run.folder, 'private-assembly');
  await synthesizeStacks(assembly, describePrivateInstallation(), run.cdk);
  await deployStacks(assembly, run.cdk);
  const { endpoint } = run.ministack;
  const api = (await listApis(endpoint)).find(({ name }) => name === `${privateName}-api`);
  const answer = await fetch(`${endpoint}/restapis/${api?.id}/live/_user_request_/health`);
  const body = await answer.text();
  await destroyStacks(assembly, run.cdk);
  const isUp = answer.status === 200 && body === '{"status":"UP"}';
  const counts = { passed: isUp ? 1 : 0, failed: isUp ? 0 : 1, skipped: 0 };
  return {
    counts,
    remark: isUp ? 'a private API deploys beside it, and answers' : `GET /health: ${answer.status} ${body}`,
  };
}
