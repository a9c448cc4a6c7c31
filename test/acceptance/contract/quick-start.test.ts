import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '#test/architecture/source-files.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { startSystem } from '#test/support/system/system.ts';

/** A command of docs/quick-start.md, and what a new user should find in what it prints. */
interface Expectation {
  readonly beginsWith: string;
  readonly prints: RegExp;
}

const expectations: readonly Expectation[] = [
  { beginsWith: "curl -s -X POST 'http://127.0.0.1:7002/kubernetes/ops", prints: /"id":"\w+"/ },
  { beginsWith: 'curl -s http://127.0.0.1:7002/task/', prints: /Orchestration completed\./ },
  { beginsWith: 'curl -s http://127.0.0.1:7002/manifests/', prints: /"kind":"Deployment"/ },
  { beginsWith: 'curl -si http://127.0.0.1:7002/applications ', prints: /x-busdriver-lag: .*"name":"try"/is },
  { beginsWith: 'curl -s http://127.0.0.1:7002/applications/try', prints: /"name":"deployment web"/ },
  { beginsWith: 'curl -s http://127.0.0.1:7002/cache/introspection', prints: /"outcome":"SUCCESS"/ },
];

describeWithCluster('docs/quick-start.md', (cluster) => {
  it('has commands that show a new user what was deployed', async () => {
    await using namespace = await createNamespace('readme');
    await using system = await startSystem({ kubeconfig: cluster.kubeconfig });
    const [account = ''] = system.accounts;
    let id = '';
    const run = async (command: string): Promise<string> => {
      const text = command
        .replaceAll('http://127.0.0.1:7002', system.url)
        .replaceAll(/kubecluster|"default"|\/default\//g, (found) =>
          found === 'kubecluster' ? account : found.replace('default', namespace.name),
        )
        .replaceAll('/task/ID', `/task/${id}`);
      return (await promisify(execFile)('bash', ['-c', text])).stdout;
    };

    const commands = await readCommands();
    expect(commands.map((command) => command.split('\n')[0])).toEqual(
      expectations.map(({ beginsWith }) => expect.stringContaining(beginsWith)),
    );
    for (const [index, { prints }] of expectations.entries()) {
      // What is asked for next is there when the task has ended.
      await expect.poll(() => run(commands[index] ?? '')).toMatch(prints);
      if (index === 0) id = /"id":"(\w+)"/.exec(await run(commands[0] ?? ''))?.[1] ?? '';
    }
  });
});

/** The commands with which a new user tries it without Spinnaker. */
async function readCommands(): Promise<string[]> {
  const page = await readFile(join(root, 'docs/quick-start.md'), 'utf8');
  const block = page.split('To try it without Spinnaker')[1]?.split('```sh\n')[1]?.split('\n```')[0] ?? '';
  return block.split(/\n(?=curl )/);
}
