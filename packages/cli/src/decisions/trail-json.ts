import type { Observability } from "@orangebox/decisions"

/** The holes in a run's trail as published JSON. */
export function trailJson({ failures, bypasses, unreadCalls, pendingTools }: Observability): object {
  return {
    failures: failures.map(({ failure, stepId, stepNo, detail }) => ({
      failure,
      step_id: stepId,
      step_no: stepNo,
      detail,
    })),
    bypasses: bypasses.map(({ bypass, stepId, stepNo, detail, certainty }) => ({
      bypass,
      step_id: stepId,
      step_no: stepNo,
      detail,
      certainty,
    })),
    unread_calls: unreadCalls,
    pending_tools: pendingTools,
  }
}
