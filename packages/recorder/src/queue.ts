import type { Handoff, Step } from "./step.js"

/** A message on its way between conversations. Plain JSON: it travels with the message. */
export interface QueuedMessage {
  readonly messageId: string
  readonly sourceConversationId?: string
  readonly targetConversationId?: string
  readonly enqueued: Handoff
}

/**
 * The three moments of a queued message, each a step that is over at once. A message delivered twice is two `queue.deliver` steps with one
 * message id; one delivered to the wrong place differs from its own target.
 */
export class QueueHandle {
  readonly #step: Step

  constructor(step: Step) {
    this.#step = step
  }

  enqueue(message: {
    messageId: string
    sourceConversationId?: string
    targetConversationId?: string
    body?: unknown
  }): QueuedMessage {
    const step = this.#step.child("enqueue", attributesOf(message), { kind: "queue.enqueue", body: message.body })
    step.end()
    const { messageId, sourceConversationId, targetConversationId } = message
    return {
      messageId,
      ...(sourceConversationId === undefined ? {} : { sourceConversationId }),
      ...(targetConversationId === undefined ? {} : { targetConversationId }),
      enqueued: step.handoff(),
    }
  }

  dequeue(message: QueuedMessage): void {
    this.#open("dequeue", message, attributesOf(message)).end()
  }

  /** Into which conversation it really went, and the run it led to when there is one. */
  deliver(
    message: QueuedMessage,
    delivery: { conversationId?: string; causedRun?: { id: string; runId: string } } = {},
  ): void {
    const step = this.#open("deliver", message, {
      ...attributesOf(message),
      ...(delivery.conversationId === undefined ? {} : { delivered_conversation_id: delivery.conversationId }),
    })
    const { causedRun } = delivery
    if (causedRun) step.addLink({ kind: "caused", runId: causedRun.runId, stepId: causedRun.id }, "delivery")
    step.end()
  }

  #open(name: string, message: QueuedMessage, attributes: Record<string, string>): Step {
    const step = this.#step.child(name, attributes, { kind: `queue.${name}` })
    const { enqueued } = message
    if (enqueued)
      step.addLink({ kind: "delivers", runId: enqueued.runId, stepId: enqueued.stepId, traceId: enqueued.traceId })
    return step
  }
}

function attributesOf(message: {
  messageId: string
  sourceConversationId?: string
  targetConversationId?: string
}): Record<string, string> {
  return {
    message_id: message.messageId,
    ...(message.sourceConversationId === undefined ? {} : { source_conversation_id: message.sourceConversationId }),
    ...(message.targetConversationId === undefined ? {} : { target_conversation_id: message.targetConversationId }),
  }
}
