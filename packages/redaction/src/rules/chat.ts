import { named } from "./named.js"
import { charactersBefore, looksDrawn, shape } from "./shape.js"

/** Tokens and webhooks of chat, mail and message services. */
export const CHAT_RULES = [
  shape("slack-app-token", {
    about: "Slack app tokens",
    keywords: ["xapp-"],
    pattern: /xapp-\d-[A-Z0-9]{5,20}-\d{5,20}-[a-z0-9]{20,100}/i,
  }),
  shape("slack-webhook", {
    about: "Slack webhook addresses",
    keywords: ["hooks.slack.com/"],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{32,120}/,
  }),
  shape("discord-webhook", {
    about: "Discord webhook addresses",
    keywords: ["discord.com/api/", "discordapp.com/api/"],
    pattern: /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{17,20}\/[\w-]{60,80}/,
  }),
  shape("teams-webhook", {
    about: "Microsoft Teams webhook addresses",
    keywords: ["webhook.office.com/", "outlook.office.com/webhook/"],
    pattern:
      /(?:webhook\.office\.com\/webhookb2|outlook\.office\.com\/webhook)\/[0-9a-z-]{36}@[0-9a-z-]{36}\/IncomingWebhook\/[0-9a-z]{32}\/[0-9a-z-]{36}(?:\/[\w-]{20,60})?/i,
  }),
  shape("discord-token", {
    about: "Discord bot tokens",
    keywords: ["mfa."],
    pattern: /mfa\.[\w-]{80,90}/,
  }),
  shape("sendgrid-key", { about: "SendGrid keys", keywords: ["SG."], pattern: /SG\.[\w=.-]{66}/ }),
  shape("mailgun-key", {
    about: "Mailgun keys",
    keywords: ["key-", "pubkey-"],
    pattern: /(?:pub)?key-[0-9a-f]{32}/,
  }),
  shape("mailchimp-key", {
    about: "Mailchimp keys",
    keywords: ["-us"],
    begin: charactersBefore(32),
    pattern: /[0-9a-f]{32}-us\d{1,2}/,
  }),
  shape("brevo-key", {
    about: "Brevo (Sendinblue) keys",
    keywords: ["xkeysib-", "xsmtpsib-"],
    pattern: /x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}/,
  }),
  shape("resend-key", { about: "Resend keys", keywords: ["re_"], pattern: /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}/ }),
  shape("mandrill-key", { about: "Mandrill keys", keywords: ["md-"], pattern: /md-[\w-]{22}/, accepts: looksDrawn }),
  shape("telnyx-key", { about: "Telnyx keys", keywords: ["KEY0"], pattern: /KEY0[0-9A-F]{31}_[A-Za-z0-9]{22}/ }),
  shape("power-automate-webhook", {
    about: "Signatures of Power Automate and Logic Apps addresses",
    keywords: ["/triggers/manual/paths/invoke"],
    begin: (text, at) => {
      const query = /\/triggers\/manual\/paths\/invoke[\w%=.&?;-]{0,120}sig=/y
      query.lastIndex = at
      return query.test(text) ? query.lastIndex : -1
    },
    pattern: /[\w-]{40,48}/,
  }),
  shape("slack-token", {
    about: "Slack tokens",
    keywords: ["xoxa-", "xoxb-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xoxd-", "xoxc-"],
    pattern:
      /xox(?:[bpe]-(?:\d{8,14}-){1,3}[A-Za-z0-9-]{16,64}|[os]-(?:\d{1,14}-){3}[0-9a-fA-F]{8,64}|[ar]-(?:\d-)?[A-Za-z0-9]{8,48}|e(?:\.xox[bp])?-\d-[A-Za-z0-9]{140,180}|c-(?:\d{8,14}-){3}[0-9a-f]{64}|d-[\w%+/=]{40,400})/,
    accepts: (secret) => /\d/.test(secret),
  }),
  shape("twilio-key", {
    about: "Twilio API keys (an account id is none)",
    keywords: [..."0123456789abcdefABCDEF"].map((digit) => `SK${digit}`),
    pattern: /SK[0-9a-fA-F]{32}/,
    accepts: (secret) => !/([0-9a-fA-F])\1{4}/.test(secret),
  }),
  named("postmark-token", {
    about: "Postmark server tokens",
    keywords: ["postmark"],
    name: /postmark[\w-]{0,24}/i,
    value: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
  }),
]
