import type { z } from 'zod';
import { objectField, stringField } from '#settings/coerce.ts';
import { type AttributeRules, applicationRule, nameRule } from './attribute-rules.ts';
import { type ContainerDescription, checkContainer, containerField, textMap } from './container.ts';
import { checkVolume, podShape } from './pod.ts';

const text = stringField;

const jobShape = {
  application: text().describe('Application: the first part of the name.'),
  stack: text().describe('Stack: the second part of the name.'),
  freeFormDetails: text().describe('Details: the third part of the name.'),
  namespace: text().describe('Namespace; left out, that of `source`, or `default`.'),
  ...podShape,
  container: containerField.describe('The only container, where `containers` is left out.'),
  labels: textMap.describe('Labels of the pod.'),
  annotations: textMap.describe('Annotations of the pod.'),
};

/** The description of `runJob`. */
export const runJobField = objectField(jobShape);

/** The description of `cloneJob`. */
export const cloneJobField = objectField({
  ...jobShape,
  source: objectField({ jobName: text(), namespace: text() }).describe('The job that this one is like.'),
});

/** The description of `destroyJob`. */
export const destroyJobField = objectField({
  jobName: text().describe('Name of the pod.'),
  namespace: text().describe('Its namespace; left out, `default`.'),
});

type Output<F extends z.ZodType> = Exclude<z.output<F>, undefined>;

/** A parsed description of `runJob`. */
export type JobDescription = Output<typeof runJobField>;
/** A parsed description of `cloneJob`. */
export type CloneJobDescription = Output<typeof cloneJobField>;
/** A parsed description of `destroyJob`. */
export type DestroyJobDescription = Output<typeof destroyJobField>;

/** The name of a container without one. */
const fallbackName = 'job';

/** The containers of a job, each with a name. */
export function listJobContainers({
  containers,
  container,
}: JobDescription): readonly ContainerDescription[] {
  const given = containers.length > 0 || container === undefined ? containers : [container];
  return given.map((each) => ({ ...each, name: each.name || fallbackName }));
}

/** Reports what is wrong with the description of a job. */
export function checkJob(description: JobDescription, rules: AttributeRules): void {
  rules.checkPresent(description.application, 'application');
  rules.checkPresent(listJobContainers(description), 'containers');
  checkJobParts(description, rules);
}

/** Reports what is wrong with the description of a copy: it says what differs from its source. */
export function checkCloneJob(description: CloneJobDescription, rules: AttributeRules): void {
  const { source } = description;
  if (rules.checkPresent(source?.jobName, 'source')) rules.checkText(source?.jobName, 'source', nameRule);
  rules.checkSourceNamespace(source?.namespace);
  checkJobParts(description, rules);
}

/** Reports what is wrong with how a job is named. */
export function checkDestroyJob({ jobName, namespace }: DestroyJobDescription, rules: AttributeRules): void {
  rules.requireText(jobName, 'jobName', nameRule);
  rules.checkNamespace(namespace);
}

function checkJobParts(description: JobDescription, rules: AttributeRules): void {
  rules.checkText(description.application, 'application', applicationRule);
  rules.checkText(description.stack, 'stack', applicationRule);
  rules.checkText(description.freeFormDetails, 'details', nameRule);
  rules.checkNamespace(description.namespace);
  rules.checkEach(description.volumeSources, 'volumeSources', checkVolume);
  const isOne = description.containers.length === 0;
  for (const [index, container] of listJobContainers(description).entries())
    checkContainer(container, isOne ? 'container' : `container[${index}]`, rules);
  rules.checkEach(description.initContainers, 'initContainer', checkContainer);
}
