import { Duration } from 'aws-cdk-lib';
import { EventBus, Schedule as Rate, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { Schedule } from '#functions/schedules.ts';
import { type Context, toResourceName } from '../context/context.ts';
import { addAccountAlarms } from './account-alarms.ts';
import { alarmPeriod, ServiceAlarm } from './service-alarm.ts';
import { ServiceFunction } from './service-function.ts';
import { nameEventBus, type SharedResources } from './shared-resources.ts';
import { findScheduleProblems } from './time-limits.ts';

/** What a schedule is made of. */
export interface ScheduledFunctionProps {
  readonly row: Schedule;
  readonly sharedResources: SharedResources;
}

/** A function that a rule starts again and again. */
export class ScheduledFunction extends Construct {
  readonly worker: ServiceFunction;

  constructor(scope: Construct, id: string, { row, sharedResources }: ScheduledFunctionProps) {
    super(scope, id);
    const rate = Duration.minutes(row.rateMinutes);
    this.worker = new ServiceFunction(this, { row, sharedResources });
    this.worker.addAlarms();
    // Lambda repeats a run that failed, and keeps for six hours what it could not begin, unless told: the next turn does what it left.
    this.worker.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    this.#addHeartbeat(row, sharedResources.context);
    const { functionName } = this.worker;
    if (row.tellsOfAccounts) addAccountAlarms(this, { context: sharedResources.context, functionName });
    new Rule(this, 'Rule', {
      ruleName: toResourceName(sharedResources.context, row.name),
      schedule: Rate.rate(rate),
      // These are about what EventBridge could not hand to Lambda.
      targets: [new LambdaFunction(this.worker.function, { retryAttempts: 0, maxEventAge: rate })],
    });
    if (row.eventTypes) this.#addEvents(row.eventTypes, { row, sharedResources });
    this.node.addValidation({ validate: () => findScheduleProblems(row) });
  }

  /** What an event could not start, the next turn of the schedule does. */
  #addEvents(detailType: readonly string[], { row, sharedResources }: ScheduledFunctionProps): void {
    const { context } = sharedResources;
    new Rule(this, 'Events', {
      ruleName: toResourceName(context, `${row.name}-events`),
      eventBus: EventBus.fromEventBusName(this, 'Bus', nameEventBus(context)),
      eventPattern: { detailType: [...detailType] },
      targets: [
        new LambdaFunction(this.worker.function, {
          retryAttempts: 2,
          maxEventAge: Duration.minutes(row.rateMinutes),
        }),
      ],
    });
  }

  /** Nothing waits for a schedule, so that a disabled one, or a missing rule, would go unnoticed. */
  #addHeartbeat({ name, rateMinutes }: Schedule, context: Context): void {
    new ServiceAlarm(this, 'Heartbeat', {
      context,
      name: `${name}-silent`,
      description: `The schedule ${name}, due every ${rateMinutes} min, has not run: its rule is disabled, or Lambda refuses it.`,
      metric: this.worker.function.metricInvocations({ period: alarmPeriod }),
      threshold: 1,
      periods: 2,
      isHeartbeat: true,
    });
  }
}
