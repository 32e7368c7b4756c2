/** What a model that answers at once answers, over the Chat Completions API. */
export const chatAnswer = (promptTokens) =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-5",
    choices: [{ index: 0, message: { role: "assistant", content: "It is done." }, finish_reason: "stop" }],
    usage: { prompt_tokens: promptTokens, completion_tokens: 5, total_tokens: promptTokens + 5 },
  })
