import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { type Context, toResourceName } from '../context/context.ts';

/** What an alarm watches. */
export interface ServiceAlarmProps {
  readonly context: Context;
  /** Name behind prefix and stage. */
  readonly name: string;
  /** What the alarm means, for the person who is called. */
  readonly description: string;
  readonly metric: IMetric;
  /** It rings at this value or above; a heartbeat below it. */
  readonly threshold: number;
  /** Periods in a row for which the value must be there. Default 1. */
  readonly periods?: number;
  /**
   * True for what must go on all the time: it rings below the threshold, and without data, since what does not run tells nothing.
   * Default false: quiet without data.
   */
  readonly isHeartbeat?: boolean;
}

/** How long a metric is summed up for an alarm. */
export const alarmPeriod: Duration = Duration.minutes(5);

/** An alarm of ours, telling the operator's topic when it rings and when it is over. */
export class ServiceAlarm extends Alarm {
  constructor(scope: Construct, id: string, props: ServiceAlarmProps) {
    const { context, name, description, metric, threshold, periods = 1, isHeartbeat = false } = props;
    super(scope, id, {
      alarmName: toResourceName(context, name),
      alarmDescription: description,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: isHeartbeat
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isHeartbeat ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    if (context.alarmTopicArn === undefined) return;
    const action = new SnsAction(Topic.fromTopicArn(this, 'Topic', context.alarmTopicArn));
    this.addAlarmAction(action);
    this.addOkAction(action);
  }
}
