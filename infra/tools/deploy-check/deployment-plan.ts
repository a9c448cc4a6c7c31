import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import type { Context } from '#infra/aws/context/context.ts';
import { readContext } from '#infra/aws/context/context-options.ts';
import { createStacks } from '#infra/aws/stacks/all-stacks.ts';
import { readJsonFile } from './context-files.ts';

/** A resource of a template. */
export interface PlannedResource {
  /** Such as `AWS::Lambda::Function`. */
  readonly type: string;
  readonly properties: JsonObject;
}

/** A stack that would be deployed. */
export interface PlannedStack {
  readonly name: string;
  /** Its own, and those of the stacks nested in it. */
  readonly resources: readonly PlannedResource[];
}

/** What a deploy with these options would make. */
export interface DeploymentPlan {
  readonly context: Context;
  /** How the names of all resources begin. */
  readonly name: string;
  readonly stacks: readonly PlannedStack[];
  /** What the stacks ask of CDK's own stack in the account. */
  readonly bootstrap: { readonly versionMin: number; readonly parameter: string };
}

/**
 * Synthesizes the stacks, without their functions' code, and reads from the templates what they would make.
 *
 * @param options options of the app, by name
 * @throws ContextError for options that a deploy would not take either
 */
export function planDeployment(options: { readonly [name: string]: unknown }): DeploymentPlan {
  const outdir = mkdtempSync(join(tmpdir(), 'busdriver-check-'));
  try {
    const app = new App({ outdir, context: { ...options, 'aws:cdk:bundling-stacks': [] } });
    const context = readContext(app);
    // Without a destination: what is in another region becomes a row among others.
    createStacks(app);
    const { stacks } = app.synth();
    const versions = stacks.map(({ requiresBootstrapStackVersion: version }) => version ?? 0);
    const templates = Map.groupBy(listStacks(app), getTopStack);
    return {
      context,
      name: `${context.namePrefix}-${context.stage}`,
      stacks: [...templates].map(([top, all]) => ({
        name: top.stackName,
        resources: all.flatMap(({ templateFile }) => listResources(readJsonFile(join(outdir, templateFile)))),
      })),
      bootstrap: {
        versionMin: Math.max(...versions),
        parameter: stacks[0]?.bootstrapStackVersionSsmParameter ?? '',
      },
    };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

function listStacks(app: App): Stack[] {
  return app.node.findAll().filter((construct) => Stack.isStack(construct));
}

function getTopStack(stack: Stack): Stack {
  return stack.nestedStackParent === undefined ? stack : getTopStack(stack.nestedStackParent);
}

function listResources(template: JsonObject): PlannedResource[] {
  const resources = Object.values(asJsonObject(template['Resources']) ?? {});
  return resources.map((resource) => ({
    type: asString(getPath(resource, 'Type')) ?? '',
    properties: asJsonObject(getPath(resource, 'Properties')) ?? {},
  }));
}

/** The resources of a type, of all stacks or of those that are chosen. */
export function findResources(stacks: readonly PlannedStack[], type: string): PlannedResource[] {
  return stacks.flatMap(({ resources }) => resources.filter((resource) => resource.type === type));
}

/** What a property says of each resource of a type, where it is text. */
export function listTexts(stacks: readonly PlannedStack[], type: string, property: string): string[] {
  return findResources(stacks, type)
    .map(({ properties }) => properties[property])
    .filter((value) => typeof value === 'string');
}
