import { named } from "./named.js"
import { shape } from "./shape.js"

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

/** Tokens of what builds, ships and watches software. */
export const DEVELOPER_TOOL_RULES = [
  shape("buildkite-token", {
    about: "Buildkite tokens",
    keywords: ["bkua_", "bkaj_", "bkct_", "bkpt_", "bkpi_"],
    pattern: /bk(?:ua|aj|ct|pt|pi)_[0-9a-zA-Z]{40,60}/,
  }),
  shape("deno-token", { about: "Deno Deploy tokens", keywords: ["ddp_", "ddo_"], pattern: /dd[po]_[A-Za-z0-9]{36}/ }),
  shape("val-town-token", { about: "Val Town tokens", keywords: ["vtwn_"], pattern: /vtwn_[A-Za-z0-9]{24,40}/ }),
  shape("snyk-token", {
    about: "Snyk tokens of the newer form",
    keywords: ["snyk_uat.", "snyk_sat."],
    pattern: /snyk_[us]at\.[0-9a-f]{8}\.[\w.-]{40,1000}/,
  }),
  shape("phabricator-token", {
    about: "Phabricator tokens",
    keywords: ["api-", "cli-"],
    pattern: /(?:api|cli)-[a-z0-9]{28}/,
    accepts: (secret) => (secret.match(/\d/g)?.length ?? 0) >= 3,
  }),
  shape("logfire-token", {
    about: "Logfire tokens",
    keywords: ["pylf_v"],
    pattern: /pylf_v\d_(?:[a-z]{2}_)?[A-Za-z0-9]{43}/,
  }),
  shape("honeycomb-key", {
    about: "Honeycomb keys",
    keywords: ["hcaik_", "hcbik_", "hcalk_", "hcblk_", "hcamk_", "hcxik_", "hcxlk_"],
    pattern: /hc[abx][ilm]k_[A-Za-z0-9]{32,64}/,
  }),
  shape("axiom-token", {
    about: "Axiom tokens",
    keywords: ["xaat-", "xapt-"],
    pattern: new RegExp(`xa(?:at|pt)-${UUID}`),
  }),
  shape("posthog-key", {
    about: "PostHog personal and feature flag keys",
    keywords: ["phx_", "phs_"],
    pattern: /ph[xs]_[A-Za-z0-9_]{43,50}/,
  }),
  shape("packagist-token", {
    about: "Packagist tokens",
    keywords: ["packagist_"],
    pattern: /packagist_[a-z]{3}_[0-9a-f]{68}/,
  }),
  shape("open-vsx-token", {
    about: "Open VSX tokens",
    keywords: ["ovsxat_", "ovsxp_"],
    pattern: new RegExp(`ovsx(?:at|p)_${UUID}`),
  }),
  shape("jsr-token", {
    about: "JSR tokens",
    keywords: ["jsrp_", "jsrd_", "jsrs_"],
    pattern: /jsr[pds]_[A-Za-z0-9]{40,60}/,
  }),
  shape("onesignal-key", {
    about: "OneSignal keys",
    keywords: ["os_v2_"],
    pattern: /os_v2_(?:app|org)_[a-z2-7]{90,110}/,
  }),
  shape("paseto", {
    about: "PASETO tokens",
    keywords: [".local.", ".public."],
    begin: (_, at) => at - 2,
    pattern: /v[1-4]\.(?:local|public)\.[\w-]{40,2000}(?:\.[\w-]{2,500})?/,
  }),
  shape("otpauth-secret", {
    about: "Secrets of one-time passwords (otpauth://)",
    keywords: ["otpauth://"],
    begin: (text, at) => {
      const parameter = /otpauth:\/\/[\w%@.:/+-]{1,120}\?(?:[a-z]{4,9}=[\w%.+ -]{0,60}&){0,5}secret=/iy
      parameter.lastIndex = at
      return parameter.test(text) ? parameter.lastIndex : -1
    },
    pattern: /[A-Z2-7]{16,128}={0,6}/i,
  }),
  shape("jenkins-initial-password", {
    about: "The first password of a Jenkins server, as it prints it",
    keywords: ["installation:"],
    begin: (text, at) => {
      const filler = /installation:(?:\s|\\{1,7}[nrt]|\*){1,40}/y
      filler.lastIndex = at
      return filler.test(text) ? filler.lastIndex : -1
    },
    pattern: /[0-9a-f]{32}/,
  }),
  named("jenkins-crumb", {
    about: "Jenkins crumbs in headers",
    keywords: ["jenkins-crumb"],
    name: /jenkins-crumb/i,
    value: /[0-9a-f]{32,64}/,
  }),
  named("artifactory-header", {
    about: "Artifactory keys in headers",
    keywords: ["x-jfrog-art-api"],
    name: /x-jfrog-art-api/i,
    value: /[A-Za-z0-9]{40,100}/,
  }),
]
