import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Queue } from '../../functions/queues.ts';
import type { Schedule } from '../../functions/schedules.ts';
import { ScheduledFunction } from '../constructs/scheduled-function.ts';
import type { Surroundings } from '../constructs/surroundings.ts';
import { WorkerQueue } from '../constructs/worker-queue.ts';

/** What the stack is made of. */
export interface WorkerStackProps {
  readonly description: string;
  readonly queues: readonly Queue[];
  readonly schedules: readonly Schedule[];
  /** What its functions share with others; its queues join it. */
  readonly surroundings: Surroundings;
}

/** Queues with their workers, and functions that rules start: operations are one such stack, caching another. */
export class WorkerStack extends Stack {
  /** The surroundings, this stack's queues among them. */
  readonly surroundings: Surroundings;

  constructor(scope: Construct, id: string, props: WorkerStackProps) {
    super(scope, id, { description: props.description });
    let { surroundings } = props;
    for (const row of props.queues) {
      const made = new WorkerQueue(this, `${row.name}-queue`, { row, surroundings });
      this.exportValue(made.queue.queueArn);
      this.exportValue(made.queue.queueUrl);
      surroundings = made.surroundings;
    }
    for (const row of props.schedules) {
      new ScheduledFunction(this, `${row.name}-schedule`, { row, surroundings });
    }
    this.surroundings = surroundings;
  }
}
