import type { BusEvent } from '#platform/ports/event-bus.ts';
import type { StoredAccount } from './model/account-store.ts';

/** Type of the event of a changed definition (EventBridge's `detail-type`). `AccountChanged` is about the caching agents of an account. */
export const definitionEventType = 'AccountDefinitionChanged';

/** What happened to an account of the store. */
export interface DefinitionChange extends Pick<StoredAccount, 'name' | 'type' | 'revision'> {
  readonly change: 'created' | 'updated' | 'deleted';
  /** The user who did it, where given. */
  readonly by: string | undefined;
}

/** The event of a change. It holds nothing of the definition. */
export function toDefinitionEvent(change: DefinitionChange, atMs: number): BusEvent {
  return { type: definitionEventType, atMs, detail: { ...change } };
}
