import { isDigit } from "../text-edges.js"
import { named } from "./named.js"
import { charactersBefore, hasBothCases, hasDigit, looksDrawn, shape } from "./shape.js"

/** Tokens of all the other services whose vendors gave them a form of their own. */
export const SAAS_RULES = [
  shape("grafana-token", {
    about: "Grafana tokens",
    keywords: ["glsa_", "glc_", "eyJrIjoi"],
    pattern: /glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,400}={0,3}|eyJrIjoi[A-Za-z0-9+/]{60,400}={0,3}/,
    accepts: hasDigit,
  }),
  shape("new-relic-key", {
    about: "New Relic keys",
    keywords: ["NRAK-", "NRII-", "NRIQ-", "NRJS-", "NRBR-", "NRRA-", "NRSP-"],
    pattern: /NR(?:AK-[A-Z0-9]{27}|I[IQ]-[\w-]{32}|JS-[0-9a-f]{19}|BR-[0-9a-f]{19}|RA-[0-9a-f]{42}|SP-[\w-]{20,40})/i,
  }),
  shape("new-relic-license", {
    about: "New Relic licence keys",
    keywords: ["NRAL"],
    begin: charactersBefore(36),
    pattern: /(?:[a-z]{2}\d{2}x{1,2}[0-9a-f]{30,31}|[0-9a-f]{32}FFFF)NRAL/,
  }),
  shape("postman-key", {
    about: "Postman keys",
    keywords: ["PMAK-", "PMAT-"],
    pattern: /PMAK-[0-9a-f]{24}-[0-9a-f]{34}|PMAT-[A-Z0-9]{26}/i,
  }),
  shape("linear-key", {
    about: "Linear keys",
    keywords: ["lin_api_", "lin_oauth_"],
    pattern: /lin_(?:api|oauth)_[A-Za-z0-9]{40,64}/,
  }),
  shape("airtable-token", { about: "Airtable tokens", keywords: ["pat"], pattern: /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/ }),
  shape("figma-token", { about: "Figma tokens", keywords: ["figd_", "figu_"], pattern: /fig[du]_[\w-]{40,60}/ }),
  shape("sentry-token", {
    about: "Sentry tokens",
    keywords: ["sntrys_", "sntryu_"],
    pattern: /sntryu_[0-9a-f]{64}|sntrys_eyJ[A-Za-z0-9+/=]{40,400}_[A-Za-z0-9+/]{43}/,
  }),
  shape("dropbox-token", { about: "Dropbox tokens", keywords: ["sl."], pattern: /sl\.(?:u\.)?[\w-]{130,1400}/ }),
  shape("doppler-token", {
    about: "Doppler tokens",
    keywords: ["dp."],
    pattern: /dp\.(?:pt|ct|sa|st|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}/,
  }),
  shape("planetscale-token", {
    about: "PlanetScale tokens and passwords",
    keywords: ["pscale_"],
    pattern: /pscale_(?:tkn|pw|oauth|otkn)_[\w=.-]{32,64}/,
  }),
  shape("harness-token", {
    about: "Harness tokens",
    keywords: ["pat.", "sat."],
    pattern: /[ps]at\.[\w-]{22}\.[0-9a-zA-Z]{24}\.[0-9a-zA-Z]{20}/,
  }),
  shape("1password-key", {
    about: "1Password secret keys and service account tokens",
    keywords: ["A3-", "ops_eyJ"],
    pattern: /A3-[A-Z0-9]{6}-[A-Z0-9]{11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}|ops_eyJ[A-Za-z0-9+/]{250,1500}={0,3}/,
  }),
  shape("contentful-token", { about: "Contentful tokens", keywords: ["CFPAT-"], pattern: /CFPAT-[\w-]{43}/ }),
  shape("typeform-token", { about: "Typeform tokens", keywords: ["tfp_"], pattern: /tfp_[\w.=-]{44,60}/ }),
  shape("readme-token", { about: "ReadMe tokens", keywords: ["rdme_"], pattern: /rdme_[a-z0-9]{70}/ }),
  shape("frameio-token", { about: "Frame.io tokens", keywords: ["fio-u-"], pattern: /fio-u-[\w=-]{64}/ }),
  shape("defined-networking-token", {
    about: "Defined Networking tokens",
    keywords: ["dnkey-"],
    pattern: /dnkey-[\w=-]{26}-[\w=-]{52}/,
  }),
  shape("duffel-token", { about: "Duffel tokens", keywords: ["duffel_"], pattern: /duffel_(?:test|live)_[\w=-]{43}/ }),
  shape("dynatrace-token", {
    about: "Dynatrace tokens",
    keywords: ["dt0c01.", "dt0s01.", "dt0s02.", "dt0s16."],
    pattern: /dt0[cs]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}/i,
  }),
  shape("infracost-key", {
    about: "Infracost keys",
    keywords: ["ico-"],
    pattern: /ico-[A-Za-z0-9]{32}/,
    accepts: hasBothCases,
  }),
  shape("intra42-secret", {
    about: "42 intra client secrets",
    keywords: ["s-s4t2"],
    pattern: /s-s4t2(?:ud|af)-[0-9a-f]{64}/,
  }),
  shape("adobe-secret", { about: "Adobe client secrets", keywords: ["p8e-"], pattern: /p8e-[\w-]{32}/i }),
  shape("prefect-key", { about: "Prefect keys", keywords: ["pnu_"], pattern: /pnu_[A-Za-z0-9]{36}/ }),
  shape("sonarqube-token", {
    about: "SonarQube tokens",
    keywords: ["sqa_", "sqp_", "squ_"],
    pattern: /sq[apu]_[A-Za-z0-9]{40}/,
  }),
  shape("settlemint-token", {
    about: "SettleMint tokens",
    keywords: ["sm_aat_", "sm_pat_", "sm_sat_"],
    pattern: /sm_[aps]at_[A-Za-z0-9]{16}/,
  }),
  shape("authress-key", {
    about: "Authress service client keys",
    keywords: [".acc_", ".acc-"],
    begin: (text, at) => {
      let start = at
      while (start > 0 && at - start < 48 && /[\w.-]/.test(text.charAt(start - 1))) start--
      return start
    },
    pattern:
      /(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{30,120}/i,
  }),
  shape("octopus-key", { about: "Octopus Deploy keys", keywords: ["API-"], pattern: /API-[A-Z0-9]{26}/ }),
  shape("twitch-stream-key", {
    about: "Twitch stream keys",
    keywords: ["live_"],
    pattern: /live_\d{6,12}_[A-Za-z0-9]{30}/,
  }),
  shape("dependency-track-key", {
    about: "Dependency-Track keys",
    keywords: ["odt_"],
    pattern: /odt_[A-Za-z0-9]{32,40}/,
  }),
  shape("wundergraph-key", { about: "WunderGraph keys", keywords: ["cosmo_"], pattern: /cosmo_[0-9a-f]{32}/ }),
  shape("lob-key", {
    about: "Lob keys",
    keywords: ["test_", "live_"],
    pattern: /(?:test|live)_(?:pub_)?(?:[0-9a-f]{35}|[0-9a-f]{31})/,
  }),
  shape("circleci-token", {
    about: "CircleCI tokens",
    keywords: ["CCIPAT_", "CCIPRJ_"],
    pattern: /CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}/,
  }),
  shape("datadog-key", {
    about: "Datadog tokens of the newer form",
    keywords: ["ddapi_"],
    pattern: /ddapi_[A-Za-z0-9]{30,50}/,
  }),
  shape("hubspot-token", {
    about: "HubSpot private app tokens",
    keywords: ["pat-na", "pat-eu", "pat-ap"],
    pattern: /pat-(?:na|eu|ap)\d{1,2}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
  }),
  shape("launchdarkly-key", {
    about: "LaunchDarkly keys",
    keywords: ["api-", "sdk-"],
    pattern: /(?:api|sdk)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
  }),
  shape("blynk-client", {
    about: "Blynk OAuth clients",
    keywords: ["oa2-client-id_"],
    pattern: /oa2-client-id_[\w-]{32}/,
  }),
  shape("mapbox-token", {
    about: "Mapbox tokens",
    keywords: ["pk.", "sk."],
    pattern: /[ps]k\.[A-Za-z0-9]{60,120}\.[\w-]{22}/,
  }),
  shape("truenas-key", {
    about: "TrueNAS keys",
    keywords: ["auth.login_with_api_key"],
    begin: (text, at) => {
      const value = /auth\.login_with_api_key\\{0,3}" ?, ?\\{0,3}"params\\{0,3}" ?: ?\[ ?\\{0,3}"/y
      value.lastIndex = at
      return value.test(text) ? value.lastIndex : at
    },
    pattern: /\d{1,4}-[A-Za-z0-9]{64}/,
  }),
  shape("atlassian-token", { about: "Atlassian tokens", keywords: ["ATATT3"], pattern: /ATATT3[\w=-]{150,250}/ }),
  shape("notion-token", {
    about: "Notion tokens",
    keywords: ["ntn_", "secret_"],
    pattern: /ntn_\d{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43}/,
    accepts: hasDigit,
  }),
  shape("facebook-app-token", {
    about: "Facebook app tokens: the number of the app, a bar, its secret",
    keywords: Array.from({ length: 100 }, (_, digits) => `${String(digits).padStart(2, "0")}|`),
    begin: (text, at) => {
      let start = at
      while (at - start < 16 && isDigit(text.charCodeAt(start - 1))) start--
      return start
    },
    pattern: /\d{15,17}\|[\w-]{27,32}(?![\w-])/,
    accepts: (secret) => /[A-Za-z]/.test(secret),
  }),
  shape("facebook-token", {
    about: "Facebook and Instagram access tokens",
    keywords: ["EAA", "IGQ"],
    pattern: /EAA[A-Z][A-Za-z0-9]{60,400}|IGQ[A-Z][\w-]{100,300}/,
    accepts: (secret) => /\d/.test(secret) && (secret.length > 100 || secret.includes("ZD", secret.length - 4)),
  }),
  shape("salesforce-token", {
    about: "Salesforce session tokens",
    keywords: ["00D"],
    pattern: /00D[A-Za-z0-9]{12,15}\\{0,2}![\w.]{80,130}/,
  }),
  shape("twitter-bearer-token", {
    about: "Twitter (X) bearer tokens of applications",
    keywords: ["AAAAAAAAAAAAAAAAAAAAA"],
    pattern: /A{21,22}[\w%]{70,120}/,
    accepts: looksDrawn,
  }),
  shape("linkedin-secret", {
    about: "LinkedIn client secrets of the newer form",
    keywords: ["WPL_AP"],
    pattern: /WPL_AP\d\.[\w.+/-]{16,80}={0,2}/,
  }),
  shape("intercom-token", {
    about: "Intercom access tokens",
    keywords: ["dG9rO"],
    pattern: /dG9rO[A-Za-z0-9+/]{50,90}={0,2}/,
  }),
  shape("clickup-token", { about: "ClickUp tokens", keywords: ["pk_"], pattern: /pk_\d{5,12}_[A-Z0-9]{32}/ }),
  shape("klaviyo-key", {
    about: "Klaviyo private keys",
    keywords: ["pk_"],
    pattern: /pk_(?:[A-Za-z0-9]{6}_)?[0-9a-f]{34}/,
  }),
  shape("sanity-token", {
    about: "Sanity tokens",
    keywords: ["skA", "skB", "skC", "skD", "skE"],
    pattern: /sk[A-E][A-Za-z0-9]{79,179}/,
    accepts: looksDrawn,
  }),
  shape("asana-token", {
    about: "Asana personal tokens",
    keywords: ["/120", "/121"],
    begin: charactersBefore(1),
    pattern: /[12]\/12\d{14}(?:\/\d{16})?:[0-9a-f]{32}/,
  }),
  shape("apify-token", { about: "Apify tokens", keywords: ["apify_api_"], pattern: /apify_api_[A-Za-z0-9]{36}/ }),
  shape("statsig-key", {
    about: "Statsig server keys",
    keywords: ["secret-"],
    pattern: /secret-[A-Za-z0-9]{43}/,
    accepts: looksDrawn,
  }),
  shape("pubnub-key", {
    about: "PubNub secret keys",
    keywords: ["sec-c-"],
    pattern: /sec-c-[A-Za-z0-9-]{36,48}/,
    accepts: hasDigit,
  }),
  shape("zapier-webhook", {
    about: "Zapier webhook addresses",
    keywords: ["hooks.zapier.com/hooks/catch/"],
    pattern: /hooks\.zapier\.com\/hooks\/catch\/\d{4,12}\/[a-z0-9]{5,12}/,
  }),
  shape("ifttt-webhook", {
    about: "IFTTT webhook keys",
    keywords: ["/with/key/"],
    begin: (_, at) => at + "/with/key/".length,
    pattern: /[\w-]{22,43}/,
    accepts: hasDigit,
  }),
  shape("thingsboard-device-token", {
    about: "ThingsBoard device tokens in addresses",
    keywords: ["/api/v1/"],
    begin: (_, at) => at + "/api/v1/".length,
    pattern: /[A-Za-z0-9]{20}(?=\/(?:telemetry|attributes|rpc|claim))/,
    accepts: hasDigit,
  }),
  shape("stackhawk-key", { about: "StackHawk keys", keywords: ["hawk."], pattern: /hawk\.[\w-]{20}\.[\w-]{20}/ }),
  shape("shippo-token", {
    about: "Shippo tokens",
    keywords: ["shippo_"],
    pattern: /shippo_(?:live|test)_[0-9a-fA-F]{40}/,
  }),
  shape("clickhouse-key", { about: "ClickHouse Cloud keys", keywords: ["4b1d"], pattern: /4b1d[A-Za-z0-9]{38}/ }),
  shape("maxmind-key", {
    about: "MaxMind licence keys",
    keywords: ["_mmk"],
    begin: charactersBefore(36),
    pattern: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk/,
  }),
  shape("aws-mws-key", {
    about: "Amazon marketplace keys",
    keywords: ["amzn.mws."],
    pattern: /amzn\.mws\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
  }),
  shape("okta-token", {
    about: "Okta tokens in headers",
    keywords: ["SSWS 00"],
    begin: (_, at) => at + 5,
    pattern: /00[\w-]{40}/,
  }),
  named("sonar-token", {
    about: "SonarQube logins of the older form",
    keywords: ["sonar"],
    name: /sonar[._-]?(?:login|token)/i,
    value: /(?:sq[apu]_)?[A-Za-z0-9=_-]{40}/i,
  }),
  named("sumologic-key", {
    about: "Sumo Logic access ids",
    keywords: ["sumo"],
    name: /(?:sumo|Sumo|SUMO)(?:[Ll]ogic|LOGIC)?(?![a-z])[\w.-]{0,32}/,
    value: /su[A-Za-z0-9]{12}/,
  }),
  named("meraki-key", {
    about: "Cisco Meraki keys",
    keywords: ["meraki"],
    name: /meraki[\w.-]{0,32}/i,
    value: /[0-9a-f]{40}/,
  }),
  named("heroku-key-by-name", {
    about: "Heroku keys of the older form",
    keywords: ["heroku"],
    name: /heroku[\w.-]{0,32}/i,
    value: /[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/,
  }),
  named("codeclimate-token", {
    about: "Code Climate reporter ids",
    keywords: ["cc_test_reporter_id", "codeclimate"],
    name: /cc_test_reporter_id|codeclimate[\w.-]{0,32}/i,
    value: /[0-9a-f]{64}/,
  }),
  named("bundler-login", {
    about: "Logins for gem servers in Bundler variables",
    keywords: ["bundle_", "contribsys.com"],
    name: /bundle_[a-z0-9_]{1,80}__[a-z]{2,10}(?:_?token)?|contribsys\.com/i,
    value: /[\w.-]{4,64}:[\w.-]{6,64}/,
  }),
]
