import { Duration } from 'aws-cdk-lib';
import { Schedule as Rate, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { Schedule } from '../../functions/schedules.ts';
import { toResourceName } from '../context.ts';
import { ServiceFunction } from './service-function.ts';
import type { Surroundings } from './surroundings.ts';
import { findScheduleProblems } from './time-limits.ts';

/** What a schedule is made of. */
export interface ScheduledFunctionProps {
  readonly row: Schedule;
  readonly surroundings: Surroundings;
}

/** A function that a rule starts again and again. */
export class ScheduledFunction extends Construct {
  readonly worker: ServiceFunction;

  constructor(scope: Construct, id: string, { row, surroundings }: ScheduledFunctionProps) {
    super(scope, id);
    const rate = Duration.minutes(row.rateMinutes);
    this.worker = new ServiceFunction(this, { row, surroundings });
    this.worker.addAlarms();
    new Rule(this, 'Rule', {
      ruleName: toResourceName(surroundings.context, row.name),
      schedule: Rate.rate(rate),
      // A run that failed is not repeated: the next one does what it left.
      targets: [new LambdaFunction(this.worker.function, { retryAttempts: 0, maxEventAge: rate })],
    });
    this.node.addValidation({ validate: () => findScheduleProblems(row) });
  }
}
