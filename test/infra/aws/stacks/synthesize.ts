import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { createStacks } from '#infra/aws/stacks/all-stacks.ts';
import { root } from '#test/architecture/source-files.ts';
import { chooseSize } from '#test/support/run/test-size.ts';

/** Options of an app as the command line or cdk.json gives them. */
export type Options = { readonly [name: string]: unknown };

/** A private API through an existing endpoint, which the network alone guards; functions in a VPC. */
export const privateOptions: Options = {
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  vpcEndpointIds: 'vpce-0123456789abcdef0',
  authentication: 'none',
};

/**
 * An app with all stacks; nothing is bundled unless it is said.
 *
 * @param validates whether CDK holds the templates against its own rules: to load these costs more than to make a dozen of assemblies
 */
export function createApp(options: Options, outdir: string, { validates = true } = {}): App {
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { context: Options };
  const app = new App({
    outdir,
    context: { 'aws:cdk:bundling-stacks': [], ...plain, ...context, ...options },
    treeMetadata: false,
    builtinCloudFormationValidation: validates,
  });
  createStacks(app);
  return app;
}

/** Nobody looks where in the sources a resource comes from. */
const plain = { 'aws:cdk:disable-stack-trace': true, 'aws:cdk:disable-creation-stack-traces': true };

/** By the options in JSON: files of tests that share a worker make the templates of each once. */
const synthesized = new Map<string, ReadonlyMap<string, Template>>();

/**
 * The templates of all stacks by their names behind prefix and stage: `data`, `api`, and `api/tasks` for a nested one. They are shared:
 * who changes one changes a copy. CDK's own rules are asked of each in the long form; in the short one `synth-nag` asks them of some.
 */
export function synthesize(options: Options = privateOptions): ReadonlyMap<string, Template> {
  const key = JSON.stringify(Object.entries(options).sort());
  const templates = synthesized.get(key) ?? makeTemplates(options);
  synthesized.set(key, templates);
  return templates;
}

function makeTemplates(options: Options): ReadonlyMap<string, Template> {
  return withOutdir((outdir) => {
    const app = createApp(options, outdir, { validates: chooseSize({ short: false, long: true }) });
    app.synth();
    return new Map(
      listStacks(app).map(({ node, templateFile }) => [
        node.path.replace(/^busdriver-dev-/, ''),
        Template.fromJSON(JSON.parse(readFileSync(join(outdir, templateFile), 'utf8'))),
      ]),
    );
  });
}

function listStacks(app: App): Stack[] {
  return app.node.findAll().filter((construct) => Stack.isStack(construct));
}

/** Names of the stacks that are deployed by themselves. */
export function listStackNames(options: Options): string[] {
  return withOutdir((outdir) => {
    const stacks = listStacks(createApp(options, outdir, { validates: false }));
    return stacks.filter(({ nested }) => !nested).map(({ stackName }) => stackName);
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
