import { ALPHANUMERIC, drawn, HEX, LOWER_ALPHANUMERIC } from "./fake-secrets.js"

const UPPER_ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
const BASE64 = `${ALPHANUMERIC}+/`
const DIGITS = "0123456789"
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
const uuid = (): string => [8, 4, 4, 4, 12].map((length) => drawn(length, HEX)).join("-")

/**
 * A fake of each vendor's published form, by the rule that should find it. Prefixes are cut in two, so that no scanner that reads this
 * repository finds a key in it.
 */
export const FAMILIES: { readonly [rule: string]: string } = {
  // Models
  "anthropic-key": `sk-ant${"-admin01-"}${drawn(93)}AA`,
  "openai-key": `sk-svc${"acct-"}${drawn(58)}T3Blbk${"FJ"}${drawn(58, ALPHANUMERIC, 2)}`,
  "openai-legacy-key": `sk${"-"}${drawn(20)}T3Blbk${"FJ"}${drawn(20, ALPHANUMERIC, 2)}`,
  "openai-session-key": `sess${"-"}${drawn(40)}`,
  "openrouter-key": `sk-or${"-v1-"}${drawn(64, HEX)}`,
  "langfuse-key": `sk-lf${"-"}${uuid()}`,
  "huggingface-token": `api_org${"_"}${drawn(34, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ")}`,
  "llamaindex-key": `llx${"-"}${drawn(23)}_${drawn(24, ALPHANUMERIC, 2)}`,
  "perplexity-key": `pplx${"-"}${drawn(48)}`,
  "xai-key": `xai${"-"}${drawn(80)}`,
  "replicate-token": `r8${"_"}${drawn(37)}`,
  "fireworks-key": `fw${"_"}${drawn(24)}`,
  "nvidia-key": `nvapi${"-"}${drawn(64)}`,
  "firecrawl-key": `fc${"-"}${drawn(32, HEX)}`,
  "tavily-key": `tvly${"-dev-"}${drawn(32)}`,
  "jina-key": `jina${"_"}${drawn(32, HEX)}${drawn(28)}`,
  "langsmith-key": `lsv2${"_pt_"}${drawn(32, HEX)}_${drawn(10, HEX)}`,
  "cerebras-key": `csk${"-"}${drawn(48, LOWER_ALPHANUMERIC)}`,
  "voyage-key": `pa${"-"}${drawn(43)}`,
  "pinecone-key": `pcsk${"_"}${drawn(6)}_${drawn(63)}`,
  "elevenlabs-key": `sk${"_"}${drawn(48, HEX)}`,
  "together-key": `tgp${"_v1_"}${drawn(43)}`,
  "e2b-key": `e2b${"_"}${drawn(40, HEX)}`,
  "runpod-key": `rpa${"_"}${drawn(42, UPPER_ALPHANUMERIC)}`,
  "litellm-key": `sk${"-"}${drawn(22)}`,
  "orangebox-proxy-token": `obxproxy${"_"}${drawn(32, HEX)}`,
  // Code hosts
  "github-installation-token-old": `v1${"."}${drawn(40, HEX)}`,
  "bitbucket-token": `ATBB${drawn(32)}`,
  "azure-devops-token": `${drawn(76)}AZ${"DO"}${drawn(4)}`,
  // Clouds
  "azure-storage-key": `${drawn(76, BASE64)}+A${"St"}${drawn(5, BASE64)}A==`,
  "azure-search-key": `${drawn(42)}Az${"Se"}A${drawn(5)}`,
  "azure-redis-key": `${drawn(33)}Az${"Ca"}${drawn(5)}A=`,
  "azure-client-secret": `${drawn(3)}8Q${"~"}${drawn(34)}`,
  "aws-session-token": `FQoGZXIv${"YXdz"}${drawn(200, BASE64)}`,
  "google-oauth": `ya29${"."}${drawn(120)}`,
  "render-key": `rnd${"_"}${drawn(32)}`,
  "neon-key": `napi${"_"}${drawn(64, LOWER_ALPHANUMERIC)}`,
  "scaleway-key-id": `SC${"W"}${drawn(17, UPPER_ALPHANUMERIC)}`,
  "akamai-token": `akab${"-"}${drawn(16, LOWER_ALPHANUMERIC)}-${drawn(16, LOWER_ALPHANUMERIC, 2)}`,
  "backblaze-key": `K0${"05"}${drawn(27)}`,
  "supabase-token": `sbp${"_"}${drawn(40, HEX)}`,
  "age-secret-key": `AGE-SECRET${"-KEY-1"}${drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")}`,
  // Payment, chat and mail
  "mollie-key": `live${"_"}${drawn(30)}`,
  "paddle-key": `pdl_live${"_apikey_"}${drawn(26, LOWER_ALPHANUMERIC)}_${drawn(22)}_${drawn(3)}`,
  "woocommerce-key": `ck${"_"}${drawn(40, HEX)}`,
  "mandrill-key": `md${"-"}${drawn(22)}`,
  "telnyx-key": `KEY${"0"}${drawn(31, "0123456789ABCDEF")}_${drawn(22)}`,
  // Business services
  "facebook-app-token": `${drawn(16, "123456789")}|${drawn(27)}`,
  "twitter-bearer-token": `${"A".repeat(22)}${drawn(90)}`,
  "linkedin-secret": `WPL${"_AP1."}${drawn(16)}.${drawn(8)}==`,
  "intercom-token": `dG9${"rO"}${drawn(60)}`,
  "clickup-token": `pk${"_"}${drawn(8, DIGITS)}_${drawn(32, UPPER_ALPHANUMERIC)}`,
  "asana-token": `1/12${"0"}${drawn(13, DIGITS)}:${drawn(32, HEX)}`,
  "apify-token": `apify${"_api_"}${drawn(36)}`,
  "atlassian-token": `ATA${"TT3"}${drawn(186)}`,
  // Tools
  "buildkite-token": `bkua${"_"}${drawn(40, LOWER_ALPHANUMERIC)}`,
  "deno-token": `ddp${"_"}${drawn(36)}`,
  "snyk-token": `snyk${"_uat."}${drawn(8, HEX)}.${drawn(80)}`,
  "honeycomb-key": `hcaik${"_"}${drawn(58, LOWER_ALPHANUMERIC)}`,
  "axiom-token": `xaat${"-"}${uuid()}`,
  "posthog-key": `phx${"_"}${drawn(43)}`,
  "packagist-token": `packagist${"_ack_"}${drawn(68, HEX)}`,
  "open-vsx-token": `ovsxat${"_"}${uuid()}`,
  "onesignal-key": `os_v2${"_app_"}${drawn(103, BASE32)}`,
  paseto: `v4${".local."}${drawn(80)}`,
}
