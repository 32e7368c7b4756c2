/** The names of attributes that the recorder, its adapters and the proxy set. Any other name was chosen by a caller, who may have built it from anything. */
export const OUR_ATTRIBUTES: ReadonlySet<string> = new Set(
  [
    "auxiliary http_method url url_tags http_status stream_end repeats_call context_held_by_provider side_call action_type",
    "mcp_method mcp_server message_id conversation_id source_conversation_id target_conversation_id delivered_conversation_id",
    "acknowledged redelivered delivery_no history certainty changed from step why unseen_turns unseen_tool_results",
    "request_sent request_cut_at request_not_decoded request_wire_encoding request_wire_bytes request_wire_digest",
    "response_cut_at response_not_decoded response_wire_encoding response_wire_bytes response_wire_digest",
    "at_step look_ms workspace source_mode rules_hash result_hash is_open verdict value context_refused broken",
  ].flatMap((names) => names.split(" ")),
)
