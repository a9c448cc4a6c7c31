import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { createStacks } from '../../../infra/stacks/all-stacks.ts';
import { root } from '../../architecture/source-files.ts';

/** Options of an app as the command line or cdk.json gives them. */
export type Options = { readonly [name: string]: unknown };

/** A private API through an existing endpoint, which the network alone guards; functions in a VPC. */
export const privateOptions: Options = {
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  vpcEndpointIds: 'vpce-0123456789abcdef0',
  authentication: 'none',
};

/** An app with all stacks; nothing is bundled unless it is said. */
export function createApp(options: Options, outdir: string): App {
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { context: Options };
  const app = new App({ outdir, context: { 'aws:cdk:bundling-stacks': [], ...context, ...options } });
  createStacks(app);
  return app;
}

/** Templates as text by their names, by the options in JSON: files of tests that share a worker make each once. */
const synthesized = new Map<string, ReadonlyMap<string, string>>();

/** The templates of all stacks by their names behind prefix and stage: `data`, `api`, and `api/tasks` for a nested one. */
export function synthesize(options: Options = privateOptions): ReadonlyMap<string, Template> {
  const key = JSON.stringify(options);
  const texts = synthesized.get(key) ?? writeTemplates(options);
  synthesized.set(key, texts);
  return new Map([...texts].map(([name, text]) => [name, Template.fromJSON(JSON.parse(text))]));
}

function writeTemplates(options: Options): ReadonlyMap<string, string> {
  return withOutdir((outdir) => {
    const app = createApp(options, outdir);
    app.synth();
    const stacks = app.node.findAll().filter((construct) => Stack.isStack(construct));
    return new Map(
      stacks.map(({ node, templateFile }) => [
        node.path.replace(/^busdriver-dev-/, ''),
        readFileSync(join(outdir, templateFile), 'utf8'),
      ]),
    );
  });
}

/** Lends a folder for what an app writes. */
export function withOutdir<T>(use: (outdir: string) => T): T {
  const outdir = mkdtempSync(join(tmpdir(), 'busdriver-synth-'));
  try {
    return use(outdir);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** The template of a stack. @throws Error when there is none. */
export function getTemplate(templates: ReadonlyMap<string, Template>, name: string): Template {
  const template = templates.get(name);
  if (template === undefined) throw new Error(`no stack ${name}, only ${[...templates.keys()].join(', ')}`);
  return template;
}
