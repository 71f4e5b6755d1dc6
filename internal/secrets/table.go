package secrets

import (
	"regexp"
	"strings"
	"sync"
)

// pattern recognizes a secret by its beginning, at the beginning of a word, and what follows.
type pattern struct {
	begin string
	rest  *regexp.Regexp
}

// table lists the keys, tokens and account ids of providers and similar services: what follows a prefix, then the
// prefixes.
var table = []struct{ rest, begin string }{
	// OpenAI, Anthropic, OpenRouter and others; Vertex; Slack; GitLab; Hugging Face; Databricks; Vault; Postman
	{`[A-Za-z0-9_-]{16,}`, "sk- ya29. xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xapp- glpat- glptt- gldt- glrt- glsoat- " +
		"glimt- glft- glcbt- glagent- gloas- GOCSPX- pypi- lsv2_ hvs. hvb. hvr. PMAK- sq0atp- sq0csp- tk-us- " +
		"pscale_tkn_ pscale_oauth_ pscale_pw_ CLOJARS_ ops_eyJ fo1_ fm1a_ fm1r_ fm2_ pk-lf- sk-lf- dp.pt. dp.st. " +
		"lin_oauth_ figd_ whsec_ nvapi- pcsk_ HRKU- sgp_ tgp_v1_ AQ.Ab8R sb_secret_ bb_live_ CFPAT- tskey- sl.u. dckr_pat_ " +
		"dckr_oat_ CCIPAT_ atlasv1."},
	{`[A-Za-z0-9]{24,}`, "vercel_ vck_ vcp_ vci_ vca_ vcr_ jina_ fc- api_org_ secret_ ntn_ csk- phx_ phc_ e2b_ key_ " +
		"cfut_ cfat_ rnd_ rpa_ napi_ nfp_ opk_ dtn_ aio_ apify_api_ esecret_ bkua_ hf_oauth_ AKCp ek_ sk_"},
	{`[A-Za-z0-9_-]{30,}`, "AIza"}, // Google
	{`[A-Za-z0-9+/=_-]{60,}`, "ABSK bedrock-api-key-"},
	{`[_-][A-Za-z0-9]{16,}`, "gsk hf ghp gho ghu ghs ghr glc glsa"},
	{`[A-Za-z0-9_]{16,}`, "github_pat_"},
	{`[A-Za-z0-9]{16,}`, "xai- pplx- npm_ r8_ lin_api_ rdme_ rubygems_ sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ " +
		"rk_prod_ org- proj_ p8e- pnu_ pul- sntryu_ sm_aat_ sm_pat_ sm_sat_ ico- fio-u- sbp_ tfp_"},
	{`[A-Za-z0-9]{8}_[A-Za-z0-9]{24}`, "re_"}, // Resend
	{`[A-Za-z0-9]{40,}`, "sess- ste- m0- llx-"},
	{`[A-Za-z0-9]{16,}/[0-9a-f]{32,}`, "bce-v3/ALTAK-"},                     // Baidu
	{`[A-Z][A-Za-z0-9_-]{56,}`, "EAA"},                                      // Facebook, Square
	{`[A-Za-z0-9]{32}\b`, "AKID"},                                           // Tencent
	{`[A-Za-z0-9_-]{28}\b`, "BSA"},                                          // Brave
	{`[a-z0-9]{43}\b`, "oy2"},                                               // NuGet
	{`[A-Za-z0-9_-]{21,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`, "M N O"}, // Discord
	{`\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`, "pat-na pat-eu"},     // HubSpot
	{`eyJ1Ijoi[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{16,}`, "sk."},                   // Mapbox
	{`[A-Za-z0-9]{20,}(?:%3D|=)[A-Za-z0-9]{40,}`, "AAAAAAAAAAAAAAAAAAAA"},   // X
	{`[A-Za-z0-9_-]{16,}`, "tvly- sntrys_ shippo_live_ shippo_test_ duffel_live_ duffel_test_ FLWSECK_TEST- xkeysib-"},
	{`[A-Za-z0-9]{20,}`, "user- fw_"}, // OpenAI's errors name organisations, projects and users; Fireworks
	{`[0-9a-f]{32}(?:-\d)?\b`, "dapi"},
	{`[0-9a-fA-F]{32}\b`, "SK AC shpat_ shpca_ shppa_ shpss_"}, // Twilio, Shopify
	{`[0-9a-f]{32,}`, "dop_v1_ doo_v1_ dor_v1_"},
	{`[A-Z0-9]{16}\b`, "AKIA ASIA ABIA ACCA"}, // Amazon
	{`[A-Za-z0-9]{20}\b`, "LTAI"},             // Alibaba
	{`[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, "SG."},
	{`1[A-Z0-9]{50,}`, "AGE-SECRET-KEY-"},
	// Atlassian, New Relic, OpenShift, Flutterwave, GitLab, Dynatrace, Plaid, Harness, Yandex, EasyPost
	{`[A-Za-z0-9_=.-]{20,}`, "ATATT3 ATCTT3 ATBB NRAK- NRII- NRJS- sha256~ FLWPUBK_TEST- FLWSECK_TEST- glffct- " +
		"GR1348941 dt0c01. dnkey- access-sandbox- access-production- access-development- EZAK EZTK AQVN s-s4t2ud- " +
		"s-s4t2af- ZXlK eyJrIjoi t1.9eu snyk_uat."},
	{`(?:pub_)?[0-9a-f]{31,}`, "live_ test_"}, // Lob
	{`[0-9a-zA-Z]{40}`, "sqa_ squ_ sqp_"},
	{`[A-Za-z0-9]{14}\.[0-9a-f]{64}`, "pat"},                                                  // Airtable
	{`[A-Za-z0-9_-]{22}\.[0-9A-Za-z]{24}\.[0-9A-Za-z]{20}`, "pat. sat."},                      // Harness
	{`(?:[A-Z0-9]{6}-[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9-]{17}`, "A3-"}, // 1Password
	{`[0-9a-f]{24}-[0-9a-f]{60,}`, "v1.0-"},                                                   // Cloudflare
	{`[0-9a-f]{32}`, "key- pubkey-"},                                                          // Mailgun
	{`[A-Za-z0-9@/-]{60,}`, "webhook.office.com/webhookb2/ outlook.office.com/webhook/"},
	{`\d{6,}:[A-Za-z0-9_-]{30,}`, "api.telegram.org/bot"},
	{`[A-Za-z0-9_-]{30,}`, "1//0 wandb_v1_ pa-"}, // Google's refresh tokens, Weights & Biases, Voyage
	{`[A-Za-z0-9]{32}\b`, "cio"},                 // crates.io
	{`[A-Za-z0-9_/+-]{20,}`, "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/ " +
		"discord.com/api/webhooks/ discordapp.com/api/webhooks/"},
	{`[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, token},
	{privateKey, "-----BEGIN "},
}

// token begins the first two parts of a JSON web token; tokenRun matches one part.
const token = "eyJ"

var tokenRun = regexp.MustCompile(`^[A-Za-z0-9_-]*`)

// privateKey is the whole block, up to its last line. Of a block without one it is the lines of base64.
const privateKey = `[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-"'<\x00]|-[^-"'<\x00])*-----END [A-Z0-9 ]*-----|` +
	`(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*)`

// begins returns the patterns by the first byte of their beginnings.
var begins = sync.OnceValue(func() *[256][]pattern {
	by := new([256][]pattern)
	for _, row := range table {
		rest := regexp.MustCompile("^(?:" + row.rest + ")")
		for begin := range strings.FieldsSeq(row.begin) {
			if begin == "-----BEGIN" {
				begin += " "
			}
			by[begin[0]] = append(by[begin[0]], pattern{begin, rest})
		}
	}
	return by
})
