// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

var canary = regexp.MustCompile(`CANARY-[A-Za-z0-9-]+-[0-9]+`)

// invented people and cases of the corpus, which no place in clear holds.
var invented = []string{"Marta", "Exempel", "KYC-000123", "kyc-000123", "analyst-7"}

func TestNoContentOfTheCorpusLeavesInStrictMode(t *testing.T) {
	files, err := filepath.Glob("../../testdata/[cd]*/*.jsonl") // corpus and dialects
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			original, err := os.ReadFile(file)
			require.NoError(t, err)
			t.Run("as captured", func(t *testing.T) {
				requireNoLeak(t, file, original, append(invented, "CANARY"))
			})
			for name, random := range map[string]func() string{"canaries as words": randomWords, "canaries as tokens": randomToken} {
				t.Run(name, func(t *testing.T) {
					secrets := map[string]string{}
					replaced := canary.ReplaceAllFunc(original, func(c []byte) []byte {
						if secrets[string(c)] == "" {
							secrets[string(c)] = random()
						}
						return []byte(secrets[string(c)])
					})
					var needles []string
					for _, s := range secrets {
						needles = append(needles, s)
					}
					if len(needles) > 0 {
						requireNoLeak(t, file, replaced, needles)
					}
				})
			}
		})
	}
}

// randomWords is text that needs an escape in URLs and in ASCII JSON.
func randomWords() string {
	return fmt.Sprintf("Zoë %s Ünal %d", randomToken()[:6], rand.IntN(1_000_000))
}

func randomToken() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	out := make([]byte, 20)
	for i := range out {
		out[i] = letters[rand.IntN(len(letters))]
	}
	return string(out)
}

func requireNoLeak(t *testing.T, file string, lines []byte, needles []string) {
	t.Helper()
	stripper, err := New(Options{})
	require.NoError(t, err)
	hidden := spellings(needles)
	for line := range bytes.Lines(lines) {
		for _, out := range stripLine(t, stripper, file, line) {
			if at := find(out, hidden); at >= 0 {
				t.Fatalf("leaked: %q", out[max(0, at-200):min(len(out), at+50)])
			}
		}
	}
}

// stripLine returns what leaves of one export request, as JSON and protobuf.
func stripLine(t *testing.T, stripper *Stripper, file string, line []byte) [][]byte {
	t.Helper()
	if strings.HasSuffix(file, ".logs.jsonl") {
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
		require.NoError(t, err)
		stripper.logs(logs)
		asJSON, err := (&plog.JSONMarshaler{}).MarshalLogs(logs)
		require.NoError(t, err)
		asProto, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
		require.NoError(t, err)
		return [][]byte{asJSON, asProto}
	}
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
	require.NoError(t, err)
	stripper.traces(traces)
	asJSON, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	require.NoError(t, err)
	asProto, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	require.NoError(t, err)
	return [][]byte{asJSON, asProto}
}

// find returns where one of the spellings stands, or -1.
func find(in []byte, spellings [][]byte) int {
	for _, s := range spellings {
		if at := bytes.Index(in, s); at >= 0 {
			return at
		}
	}
	return -1
}

// spellings are the ways in which a secret may hide.
func spellings(needles []string) [][]byte {
	var out [][]byte
	for _, s := range needles {
		ascii, _ := json.Marshal(s)
		forms := []string{s, strings.ToLower(s), strings.ToUpper(s), url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))), string(ascii[1 : len(ascii)-1]), escapeNonASCII(s)}
		for shift := range 3 { // a secret inside a longer text in base64
			for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				encoded := encoding.EncodeToString([]byte(strings.Repeat("x", shift) + s + "xxx"))
				first, last := (shift*8+5)/6, (shift+len(s))*8/6
				forms = append(forms, encoded[first:last])
			}
		}
		for _, f := range forms {
			out = append(out, []byte(f))
		}
	}
	return out
}

func escapeNonASCII(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r < 0x80 {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "\\u%04x", r)
		}
	}
	return out.String()
}

func TestASecretIsFoundInEverySpelling(t *testing.T) {
	const secret = "Zoë Ünal 12345"
	hidden := spellings([]string{secret})
	for _, text := range []string{secret, "a=" + url.QueryEscape(secret), hex.EncodeToString([]byte("x" + secret)), `{"a":"` + escapeNonASCII(secret) + `"}`} {
		assert.LessOrEqual(t, 0, find([]byte(text), hidden), text)
		for shift := range 4 {
			encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("y", shift) + secret + "?>"))
			assert.LessOrEqual(t, 0, find([]byte(encoded), hidden), shift)
		}
	}
}
