import { shape } from "./shape.js"

/** Tokens of code hosts. */
export const VCS_RULES = [
  shape("github-token", {
    about: "GitHub tokens: personal, OAuth, app, refresh",
    keywords: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    pattern: /gh[pousr]_[A-Za-z0-9]{36,76}/,
  }),
  shape("github-installation-token-old", {
    about: "GitHub installation tokens of the older form",
    keywords: [..."0123456789abcdef"].map((digit) => `v1.${digit}`),
    pattern: /v1\.[0-9a-f]{40}/,
  }),
  shape("github-app-jwt", {
    about: "GitHub installation tokens that carry a JWT",
    keywords: ["ghs_"],
    pattern: /ghs_\d{1,12}_eyJ[\w-]{10,600}\.[\w-]{10,2000}\.[\w-]{10,600}/,
  }),
  shape("github-fine-grained-token", {
    about: "GitHub fine-grained tokens",
    keywords: ["github_pat_"],
    pattern: /github_pat_\w{36,255}/,
  }),
  shape("gitlab-token", {
    about: "GitLab tokens: personal, deploy, runner, job, trigger, feed, agent and the like",
    keywords: [
      ...["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-"],
      ...["glffct-", "gloas-", "glwt-"],
    ],
    pattern: /gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|oas|wt)-(?:t\d_)?[\w-]{20,300}(?:\.[\w.-]{5,40})?/,
  }),
  shape("gitlab-runner-registration-token", {
    about: "GitLab runner registration tokens",
    keywords: ["GR1348941"],
    pattern: /GR1348941[\w-]{20}/,
  }),
  shape("gitlab-session", {
    about: "GitLab session cookies",
    keywords: ["_gitlab_session="],
    pattern: /_gitlab_session=[0-9a-z]{32}/,
  }),
  shape("bitbucket-token", {
    about: "Bitbucket server and app tokens",
    keywords: ["BBDC-", "ATBB", "ATCTT3xFfG"],
    pattern: /BBDC-[A-Za-z0-9+/]{44}|ATBB[A-Za-z0-9]{24,32}|ATCTT3xFfG[\w=-]{150,250}/,
  }),
  shape("sourcegraph-token", {
    about: "Sourcegraph tokens",
    keywords: ["sgp_"],
    pattern: /sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}/,
    accepts: (secret) => !/([0-9a-fA-F])\1{6}/.test(secret),
  }),
  shape("gitea-token", {
    about: "Gitea and Forgejo tokens of the newer form",
    keywords: ["gta_"],
    pattern: /gta_[0-9a-f]{40}/,
  }),
]
