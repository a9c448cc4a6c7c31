import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from './source-files.ts';

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: {
    readonly [name: string]: {
      readonly permissions?: unknown;
      readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: object }[];
    };
  };
}

const folder = join(root, '.github', 'workflows');
const workflows = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  return { name, text, workflow: parse(text) as Workflow };
});
const steps = workflows.flatMap(({ workflow }) => Object.values(workflow.jobs).flatMap((job) => job.steps));

/** What jobs may do that write. */
const rights: { readonly [job: string]: object } = {
  'release.yml release': {
    ...{ contents: 'write', packages: 'write', 'id-token': 'write', attestations: 'write' },
  },
  'scanning.yml code': { contents: 'read', 'security-events': 'write' },
  'scanning.yml scorecard': { contents: 'read', 'security-events': 'write' },
};

describe('workflows', () => {
  it('use actions of a commit, whose version a comment says', () => {
    const lines = workflows.flatMap(({ text }) => text.split('\n').filter((line) => /\buses:/.test(line)));
    const loose = lines.filter(
      (line) => !/^\s*(- )?uses: [\w.-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(line),
    );
    expect(lines.length).toBe(steps.filter(({ uses }) => uses !== undefined).length);
    expect(lines.length).toBeGreaterThan(4);
    expect(loose).toEqual([]);
  });

  it('may read the repository, and write what they are for', () => {
    for (const { name, workflow, text } of workflows) {
      expect([name, workflow.permissions]).toEqual([name, { contents: 'read' }]);
      for (const [job, { permissions }] of Object.entries(workflow.jobs))
        expect([`${name} ${job}`, permissions]).toEqual([`${name} ${job}`, rights[`${name} ${job}`]]);
      // Whose change it is may be anybody.
      if (/: write$/m.test(text)) expect(text).not.toContain('pull_request');
    }
  });

  it('look for known holes in what is deployed, and keep the bill of materials', () => {
    const commands = steps.map(({ run }) => run);
    expect(commands).toContain('npm audit --omit=dev --audit-level=high');
    expect(commands.indexOf('npm run sbom')).toBeGreaterThanOrEqual(0);
    expect(steps).toContainEqual({
      uses: expect.stringMatching(/^actions\/upload-artifact@/),
      with: { name: 'sbom', path: 'dist/sbom.cdx.json', 'if-no-files-found': 'error' },
    });
  });
});
