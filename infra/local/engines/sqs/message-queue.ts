import { randomUUID } from 'node:crypto';
import { FairOrder } from '#infra/server/functions/fair-order.ts';
import { systemClock } from '#platform/services/system.ts';
import { AwsError } from '../engine.ts';
import { DeadlineHeap } from './deadline-heap.ts';
import type { MessageDraft } from './messages.ts';
import type { QueueAttributes } from './queue-attributes.ts';

/** A message in a queue. Times are milliseconds since the epoch. */
export interface StoredMessage extends MessageDraft {
  readonly id: string;
  readonly sentAtMs: number;
  /** Fairness is by it; messages without a group id share one group. */
  readonly group: string;
  state: 'delayed' | 'visible' | 'in-flight';
  /** True once it has left the queue. */
  removed: boolean;
  receiveCount: number;
  /** Receives in the queues from which it came; they do not count here. */
  readonly earlierReceives: number;
  firstReceivedAtMs: number;
  /** ARN of the queue from which it came to this dead-letter queue. */
  deadLetterSource: string | undefined;
  /** When its state changes next: the delay or the hiding ends, or it expires. */
  dueAt: number;
  heapIndex: number;
}

/** A message handed to a receiver. */
export interface Receipt {
  readonly message: StoredMessage;
  /** Valid until the message is received again. */
  readonly handle: string;
}

/** How to receive. */
export interface ReceiveOptions {
  /** Messages at most, 1 to 10. */
  readonly limit: number;
  readonly visibilityTimeoutSeconds: number;
  /** Seconds to wait for a first message, 0 to 20. */
  readonly waitSeconds: number;
  /** Given a function that ends the wait, for when the receiver goes away. */
  readonly onWait?: (cancel: () => void) => void;
}

/** What a queue needs to know of its server. */
export interface MessageQueueOptions {
  readonly name: string;
  readonly arn: string;
  readonly attributes: QueueAttributes;
  /** Finds the dead-letter queue that `RedrivePolicy` names. */
  readonly findQueue: (arn: string) => MessageQueue | undefined;
}

interface Waiter extends ReceiveOptions {
  readonly resolve: (receipts: readonly Receipt[]) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * A standard queue of SQS: at least once, best-effort order, fair between message groups. Its messages live in
 * memory: Busdriver's only name records in the database, and a sweeper sends the lost ones again.
 *
 * Every operation is O(log n), and one timer waits for the next event, so an idle queue costs nothing.
 */
export class MessageQueue {
  readonly name: string;
  readonly arn: string;
  /** How many messages are in each state. */
  readonly counts = { visible: 0, delayed: 0, inFlight: 0 };
  readonly attributes: QueueAttributes;
  readonly #findQueue: MessageQueueOptions['findQueue'];
  readonly #messages = new Map<string, StoredMessage>();
  readonly #visible = new FairOrder<StoredMessage>();
  readonly #deadlines = new DeadlineHeap<StoredMessage>();
  readonly #waiters = new Set<Waiter>();
  #timer: { readonly dueAt: number; readonly handle: NodeJS.Timeout } | undefined;

  constructor({ name, arn, attributes, findQueue }: MessageQueueOptions) {
    this.name = name;
    this.arn = arn;
    this.attributes = attributes;
    this.#findQueue = findQueue;
  }

  /** Adds messages. @returns them in the same order */
  send(drafts: readonly MessageDraft[]): readonly StoredMessage[] {
    const messages = drafts.map((draft) => this.#store(draft));
    this.#serveWaiters();
    this.#arm();
    return messages;
  }

  /** Takes messages and hides them; waits for a first one when there is none. May resolve empty. */
  async receive(options: ReceiveOptions): Promise<readonly Receipt[]> {
    // A timer fires a millisecond late at best: what is due is shown all the same.
    if ((this.#deadlines.first?.dueAt ?? Number.POSITIVE_INFINITY) <= systemClock.now()) this.#handleDue();
    const receipts = this.#take(options);
    this.#arm();
    if (receipts.length > 0 || options.waitSeconds === 0) return receipts;
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(waiter.timer);
        if (this.#waiters.delete(waiter)) resolve([]);
      };
      const timer = setTimeout(finish, options.waitSeconds * 1000);
      const waiter: Waiter = { ...options, resolve, timer };
      this.#waiters.add(waiter);
      options.onWait?.(finish);
    });
  }

  /**
   * Removes the message of a receipt. Nothing happens when it is gone or was received again meanwhile.
   *
   * @throws AwsError ReceiptHandleIsInvalid
   */
  delete(handle: string): void {
    const message = this.#findReceived(handle);
    if (message !== undefined) this.#remove(message);
    this.#arm();
  }

  /**
   * Hides a received message for so many seconds from now; 0 shows it at once.
   *
   * @throws AwsError ReceiptHandleIsInvalid, InvalidParameterValue (gone) or MessageNotInflight
   */
  changeVisibility(handle: string, seconds: number): void {
    const message = this.#findReceived(handle);
    if (message === undefined) {
      throw new AwsError(
        'InvalidParameterValue',
        `Value ${handle} for parameter ReceiptHandle is invalid. ` +
          'Reason: Message does not exist or is not available for visibility timeout change.',
      );
    }
    if (message.state !== 'in-flight') {
      throw new AwsError('MessageNotInflight', 'The message is not in flight.');
    }
    this.#deadlines.set(message, systemClock.now() + seconds * 1000);
    if (seconds === 0) this.#show(message);
    this.#serveWaiters();
    this.#arm();
  }

  /** Removes all messages. */
  purge(): void {
    for (const message of this.#messages.values()) this.#remove(message);
    this.#arm();
  }

  /** Ends all waits and the timer. */
  close(): void {
    for (const { timer, resolve } of this.#waiters) {
      clearTimeout(timer);
      resolve([]);
    }
    this.#waiters.clear();
    clearTimeout(this.#timer?.handle);
  }

  #store(draft: MessageDraft): StoredMessage {
    const now = systemClock.now();
    const delaySeconds = draft.delaySeconds ?? this.attributes.DelaySeconds;
    const message: StoredMessage = {
      ...draft,
      id: randomUUID(),
      sentAtMs: now,
      group: draft.groupId ?? '',
      state: 'delayed',
      removed: false,
      receiveCount: 0,
      earlierReceives: 0,
      firstReceivedAtMs: 0,
      deadLetterSource: undefined,
      dueAt: 0,
      heapIndex: -1,
    };
    this.#messages.set(message.id, message);
    this.counts.delayed += 1;
    if (delaySeconds > 0) this.#deadlines.set(message, now + delaySeconds * 1000);
    else this.#show(message);
    return message;
  }

  /** A dead letter arrives from another queue. It keeps its age, which counts against this queue's retention. */
  #accept(letter: StoredMessage, source: string): void {
    const message: StoredMessage = {
      ...letter,
      state: 'delayed',
      removed: false,
      earlierReceives: letter.receiveCount,
      deadLetterSource: source,
      heapIndex: -1,
    };
    this.#messages.set(message.id, message);
    this.counts.delayed += 1;
    this.#show(message);
    this.#serveWaiters();
    this.#arm();
  }

  #take({ limit, visibilityTimeoutSeconds }: ReceiveOptions): readonly Receipt[] {
    const receipts: Receipt[] = [];
    while (receipts.length < limit) {
      const message = this.#visible.take();
      if (message === undefined) break;
      this.#setState(message, 'in-flight');
      if (this.#moveIfSpent(message)) continue;
      this.#deadlines.set(message, systemClock.now() + visibilityTimeoutSeconds * 1000);
      message.receiveCount += 1;
      message.firstReceivedAtMs ||= systemClock.now();
      receipts.push({ message, handle: this.#formatHandle(message) });
    }
    return receipts;
  }

  /** Moves a message that was received often enough to the dead-letter queue. @returns whether it was */
  #moveIfSpent(message: StoredMessage): boolean {
    const policy = this.attributes.RedrivePolicy;
    const receives = message.receiveCount - message.earlierReceives;
    if (policy === undefined || receives < policy.maxReceiveCount) return false;
    const deadLetters = this.#findQueue(policy.deadLetterTargetArn);
    if (deadLetters === undefined) return false;
    this.#remove(message);
    deadLetters.#accept(message, this.arn);
    return true;
  }

  #show(message: StoredMessage): void {
    this.#deadlines.set(message, this.#getExpiry(message));
    if (message.state === 'visible') return;
    if (message.state === 'in-flight') this.#visible.settle(message);
    this.#setState(message, 'visible');
    this.#visible.add(message);
  }

  #remove(message: StoredMessage): void {
    if (message.state === 'in-flight') this.#visible.settle(message);
    this.counts[countNames[message.state]] -= 1;
    message.removed = true;
    this.#deadlines.delete(message);
    this.#messages.delete(message.id);
  }

  #setState(message: StoredMessage, state: StoredMessage['state']): void {
    this.counts[countNames[message.state]] -= 1;
    this.counts[countNames[state]] += 1;
    message.state = state;
  }

  #getExpiry(message: StoredMessage): number {
    return message.sentAtMs + this.attributes.MessageRetentionPeriod * 1000;
  }

  #serveWaiters(): void {
    for (const waiter of this.#waiters) {
      if (this.counts.visible === 0) return;
      const receipts = this.#take(waiter);
      if (receipts.length === 0) return;
      clearTimeout(waiter.timer);
      this.#waiters.delete(waiter);
      waiter.resolve(receipts);
    }
  }

  /** Sets the timer to the next event, where that is not the one it waits for already. */
  #arm(): void {
    const dueAt = this.#deadlines.first?.dueAt;
    if (this.#timer?.dueAt === dueAt) return;
    clearTimeout(this.#timer?.handle);
    this.#timer = undefined;
    if (dueAt === undefined) return;
    const handle = setTimeout(() => this.#handleDue(), Math.max(dueAt - systemClock.now(), 0));
    this.#timer = { dueAt, handle };
  }

  #handleDue(): void {
    clearTimeout(this.#timer?.handle);
    this.#timer = undefined;
    const now = systemClock.now();
    for (let next = this.#deadlines.first; next && next.dueAt <= now; next = this.#deadlines.first) {
      if (now >= this.#getExpiry(next)) this.#remove(next);
      else this.#show(next);
    }
    this.#serveWaiters();
    this.#arm();
  }

  #formatHandle({ id, receiveCount }: StoredMessage): string {
    return Buffer.from(`${this.name} ${id} ${receiveCount}`).toString('base64url');
  }

  #findReceived(handle: string): StoredMessage | undefined {
    const [name, id, receiveCount] = Buffer.from(handle, 'base64url').toString().split(' ');
    if (name !== this.name || id === undefined || receiveCount === undefined) {
      throw new AwsError(
        'ReceiptHandleIsInvalid',
        `The input receipt handle "${handle}" is not a valid receipt handle.`,
      );
    }
    const message = this.#messages.get(id);
    return message?.receiveCount === Number(receiveCount) ? message : undefined;
  }
}

const countNames = { delayed: 'delayed', visible: 'visible', 'in-flight': 'inFlight' } as const;
