import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { SdkClasses } from '../direct-client.ts';

/** What of EventBridge's SDK is used. */
export const busClasses: SdkClasses = {
  actions: new Map<unknown, string>([[PutEventsCommand, 'PutEvents']]),
};
