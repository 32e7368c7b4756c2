import { wordList } from "./word-list.js"

/** What a name says about its value. */
export type NameKind =
  | "password"
  | "secret"
  | "connection"
  | "token"
  | "key"
  | "access-key"
  | "aws-key"
  | "ibm-key"
  | "softlayer-key"

/**
 * Whether a name tells that its value is a secret: `DB_PASSWORD`, `clientSecret`, `x-api-key`, `accessToken`. The words around the telling
 * one decide: `max_tokens`, `tokenEndpoint`, `publicKey` and `next_page_token` tell nothing.
 */
export function kindOfName(name: string): NameKind | undefined {
  const known = remembered.get(name)
  if (known !== undefined) return known ?? undefined
  const kind = judge(wordsOf(name))
  // Names repeat without end, and judging one is a hundred times the work of looking it up.
  if (remembered.size >= 4096) remembered.clear()
  remembered.set(name, kind ?? null)
  return kind
}

const remembered = new Map<string, NameKind | null>()

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/\d+$/, ""))
    .filter((word) => word !== "")
}

function judge(words: readonly string[]): NameKind | undefined {
  for (let i = words.length - 1; i >= 0; i--) {
    const kind = kindOfWord(words, i)
    if (kind === undefined) continue
    if (words.slice(i + 1).some((word) => ABOUT_IT.has(word))) return undefined
    if (words.slice(0, i).some((word) => HARMLESS.has(word))) return undefined
    return kind
  }
  return undefined
}

function kindOfWord(words: readonly string[], i: number): NameKind | undefined {
  const word = words[i]!
  if (PASSWORD.test(word)) return "password"
  if (/(?:^|[a-z])token$/.test(word)) return "token"
  if (word === "key" || GLUED_KEY.test(word)) return kindOfKey(words, i)
  if (
    word === "secret" ||
    word === "secrets" ||
    word === "secrete" ||
    /^(?:client|app|consumer|shared|user)secret$/.test(word)
  ) {
    return "secret"
  }
  if (/^(?:connectionstring|connstr|connstring)$/.test(word)) return "connection"
  if (i > 0 && /^str(?:ing)?$/.test(word) && /^conn(?:ection)?$/.test(words[i - 1]!)) return "connection"
  if (word === "mnemonic" || (word === "phrase" && /^(?:seed|pass|recovery)$/.test(words[i - 1] ?? "")))
    return "password"
  if (word === "jwt" && i === words.length - 1) return "token"
  if (word === "credential" || word === "credentials" || word === "creds") return "token"
  if ((word === "auth" || word === "authorization" || word === "authentication") && i === words.length - 1)
    return "token"
  if (word === "pat" && i === words.length - 1 && words.length > 1) return "token"
  if (word === "salt" && i === words.length - 1) return "token"
  return undefined
}

const PASSWORD =
  /^(?:[a-z]{0,16}(?:password|passwd|passwort|passphrase|passcode|pwd|pswd)|passwors?d[a-z]{0,6}|ps{1,2}w(?:o?r)?d|pass|pw|(?:db|my|mysql|user|root|admin|smtp|ftp|ssh|mail|os|pg|key|store|keystore|truststore|ldap|imap|redis|mongo|rabbit|sudo|login|vpn|wifi|web|api|proxy|bind|auth)(?:pass|pw))$/
const GLUED_KEY =
  /^[a-z]{0,12}(?:api|secret|access|private|auth|encryption|signing|account|service|master|preshared|sharedaccess)key$/
const KEY_OF = wordList(`
  api secret access private auth encryption signing account service master preshared shared app application admin
  consumer subscription deploy webhook stream session storage client hmac crypto cipher rsa ssh unseal recovery
  integration activation product serial registration
`)
/** A vendor's name before `key` says what the key opens. */
const VENDORS = wordList(`
  openai anthropic claude gemini groq mistral cohere deepseek perplexity openrouter huggingface replicate fireworks
  together xai grok voyage pinecone tavily exa serper serpapi elevenlabs deepgram assemblyai stability langfuse
  langsmith langchain wandb nvidia databricks azure aws gcp google maps firebase cloudflare digitalocean heroku
  linode hetzner vultr netlify vercel supabase github gitlab bitbucket slack discord telegram twilio sendgrid
  mailgun mailchimp postmark resend stripe paypal square shopify razorpay plaid datadog newrelic sentry grafana loki
  algolia fastly launchdarkly segment mixpanel amplitude airtable notion linear figma asana zendesk intercom hubspot
  jira confluence okta auth0 snyk sonar circleci travis npm pypi rubygems nuget artifactory weather openweathermap
  finnhub alphavantage tmdb giphy unsplash pexels youtube twitter facebook instagram mapbox cloudinary imgur wakatime
`)

function kindOfKey(words: readonly string[], i: number): NameKind | undefined {
  const word = words[i]!
  const before = words[i - 1]
  if (words.some((one) => one === "softlayer" || one === "sl")) return "softlayer-key"
  if (words.some((one) => one === "ibm" || one === "iam")) return "ibm-key"
  if (word === "key" && (before === undefined || !(KEY_OF.has(before) || VENDORS.has(before)))) return undefined
  const isAccessKey = word.endsWith("accesskey") || before === "access"
  const isSecret = words.slice(0, i).includes("secret") || word.startsWith("secret")
  if (words.includes("aws") && isSecret) return "aws-key"
  if (isAccessKey && isSecret) return "access-key"
  if (before === "secret" || word.endsWith("secretkey") || before === "private" || word.endsWith("privatekey"))
    return "secret"
  return "key"
}

/** Behind the telling word: the name is of something about the secret. */
const ABOUT_IT = wordList(`
  id ids name names url uri urls endpoint path file files filename dir type types count counts limit limits length
  len size ttl expiry expires expire expiration expired field fields label hint policy regex pattern usage budget
  cost price rate index idx status error errors message msg reset manager provider generator validator parser class
  list arn ref reference version format scope scopes audience issuer header param input prompt placeholder at date
  time timestamp event down up press source kind created info required enabled exists valid used tokens ring pair
  word words map variable var env
`)

/** Before the telling word: there is nothing secret about it. */
const HARMLESS = wordList(`
  public pub publishable site browser max min num total next page prev previous continuation sync cursor resume prompt completion output
  cached reasoning special eos bos pad unk sep stop start end first last non not no is has use without invalid
  missing cancel cancellation abort forgot reset confirm idempotency design logprob draft image audio csrf xsrf avg
  trial ice
`)
