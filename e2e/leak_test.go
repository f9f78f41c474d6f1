// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var canary = regexp.MustCompile(`CANARY-[A-Za-z0-9-]+-[0-9]+`)

// TestNoCapturedContentLeavesTheCollector sends every captured file through the
// built collector, as captured and with every canary replaced by random text,
// and looks for the content in everything that the collector wrote.
func TestNoCapturedContentLeavesTheCollector(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for name, replace := range map[string]func(string) string{
		"as captured": func(c string) string { return c },
		"random text": randomText(rand.New(rand.NewPCG(seed, 0))),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, "e2e/testdata/full.yaml")
			c := h.start()
			secrets := map[string]bool{}
			for _, file := range corpusFiles(t) {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				planted := canary.ReplaceAllFunc(data, func(m []byte) []byte {
					text := replace(string(m))
					secrets[text] = true
					return []byte(text)
				})
				copied := filepath.Join(h.base, filepath.Base(file))
				require.NoError(t, os.WriteFile(copied, planted, 0o600))
				require.NoError(t, c.Replay(t.Context(), copied))
			}
			require.NoError(t, c.Stop())
			require.Greater(t, len(secrets), 800)
			h.requireVerified()

			tracing, err := os.ReadFile(h.tracing)
			require.NoError(t, err)
			outputs := map[string][]byte{
				"journal": bytes.Join(h.lines(), []byte("\n")), "tracing": tracing, "output": []byte(c.Output()),
			}
			outputs["bundle"] = h.bundleOfAll()
			for where, text := range outputs {
				require.NotEmpty(t, text, where)
				for secret := range secrets {
					for form, spelled := range spellings(secret) {
						if i := bytes.Index(text, []byte(spelled)); i >= 0 {
							assert.Failf(t, "content leaked", "%q as %s in %s: ...%s...", secret, form, where, text[max(0, i-200):min(len(text), i+60)])
						}
					}
				}
				assert.NotContains(t, string(text), "CANARY", where)
			}
			requireSurvivors(t, string(tracing))
		})
	}
}

// randomText returns, for each canary, words that occur nowhere else: the same
// canary always gives the same words.
func randomText(r *rand.Rand) func(string) string {
	known := map[string]string{}
	return func(c string) string {
		if known[c] == "" {
			word := func() string {
				b := make([]byte, 10)
				for i := range b {
					b[i] = "bcdfghjklmnpqrstvwxz"[r.IntN(20)]
				}
				return string(b)
			}
			known[c] = word() + " é" + word()
		}
		return known[c]
	}
}

// spellings are the forms in which a careless program could let text escape.
func spellings(s string) map[string]string {
	quoted, _ := json.Marshal(s)
	forms := map[string]string{
		"text": s, "hex": hex.EncodeToString([]byte(s)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(s))),
		"query": url.QueryEscape(s), "path": url.PathEscape(s), "JSON": strings.Trim(string(quoted), `"`),
		"ASCII": strings.Trim(strconv.QuoteToASCII(s), `"`),
	}
	// Base64 of text within other text depends on where it begins.
	for shift := range 3 {
		b := []byte(strings.Repeat("\x00", shift) + s)
		for name, e := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			whole := e.EncodeToString(b[:len(b)/3*3])
			forms[fmt.Sprint(name, shift)] = whole[(shift*8+5)/6:]
		}
	}
	return forms
}

// requireSurvivors demands that what is harmless is still in the telemetry that
// goes to tracing: names, models, counts, ids, timing and structure.
func requireSurvivors(t *testing.T, tracing string) {
	for _, survivor := range []string{
		// services and libraries
		`"kyc-otel-js-openai-0.21.0"`, `"@opentelemetry/instrumentation-openai"`, `"0.21.0"`, `"@arizeai/openinference-instrumentation-langchain"`,
		// tools, operations, models
		`"lookup_customer"`, `"screen_sanctions"`, `"execute_tool"`, `"ai.toolCall"`, `"core_banking_lookup"`, `"gpt-4o"`, `"text-embedding-3-small"`, `"TOOL"`, `"RETRIEVER"`,
		// ids
		`"call_db_1"`, `"call_0013kyc"`, `"sess-kyc-0001"`,
		// counts
		`"gen_ai.usage.input_tokens"`, `"llm.token_count.prompt"`, `"ai.usage.promptTokens"`,
		// structure and timing
		`"c0a8c12f6104453a77e77facac60a775"`, `"6bbdc5893c8b5697"`, `"1796001334575000000"`, `"parentSpanId":"`,
	} {
		assert.Contains(t, tracing, survivor)
	}
}
