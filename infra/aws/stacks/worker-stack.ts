import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Queue } from '#functions/queues.ts';
import type { Schedule } from '#functions/schedules.ts';
import { ScheduledFunction } from '../constructs/scheduled-function.ts';
import { createSharedResources } from '../constructs/shared-resources.ts';
import { WorkerQueue } from '../constructs/worker-queue.ts';
import type { Context } from '../context/context.ts';

/** What the stack is made of. */
export interface WorkerStackProps {
  readonly description: string;
  readonly queues: readonly Queue[];
  readonly schedules: readonly Schedule[];
  readonly context: Context;
}

/** Queues with their workers, and functions that rules start: operations are one such stack, caching another. */
export class WorkerStack extends Stack {
  constructor(scope: Construct, id: string, props: WorkerStackProps) {
    super(scope, id, { description: props.description });
    const sharedResources = createSharedResources(this, props.context);
    for (const row of props.queues) {
      const made = new WorkerQueue(this, `${row.name}-queue`, { row, sharedResources });
      this.exportValue(made.queue.queueArn);
      this.exportValue(made.queue.queueUrl);
    }
    for (const row of props.schedules) {
      new ScheduledFunction(this, `${row.name}-schedule`, { row, sharedResources });
    }
  }
}
