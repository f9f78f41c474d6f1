// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// secret is that of the golden vectors, which were made by OpenSSL:
//
//	printf '%s' 'medium risk' | openssl dgst -sha256 -mac HMAC -macopt hexkey:3031...
const secret = "0123456789abcdef0123456789abcdef"

func newKey(t testing.TB, id string) *Key {
	t.Helper()
	k, err := NewKey(id, []byte(secret))
	require.NoError(t, err)
	return k
}

func TestKeyedDigestsAreThoseOfAnotherImplementation(t *testing.T) {
	k := newKey(t, "bank-2026")
	for in, want := range map[string]Digest{
		"medium risk": {"840be33d5aa51db4cb5e182b09c8ace33f2f174b30d240651229bd8f2d56eab8", FormBytes, 64, record.CapturedContent},
		`{ "limit": 1e3, "customer_id": "KYC-000123" }`:                             {"c645428624ef9e9152089a9bd2c7b452f76b97dbec4381d4c5cbd87c9f03f6c3", FormJCS, 64, record.CapturedContent},
		`{"account":9007199254740993}`:                                              {"99c725f2fb7c5ef2837c21f4c6b8b8d8856dcf57087422f9f34a452d5e43426c", FormBytes, 64, record.CapturedContent},
		`{"kvlistValue":{"values":[{"key":"scan","value":{"bytesValue":"/w=="}}]}}`: {"83aacc8fa3bbfbe4d6f5ebbe506fb62cff97373dbf031b9c5966fb371ecf3108", FormJCS, 128, record.CapturedContent},
	} {
		want.Value = "hmac-sha256:bank-2026:" + want.Value
		for range 2 { // a hash is used again
			assert.Equal(t, want, k.OfString(in))
		}
		assert.Equal(t, want, k.OfBytes([]byte(in)))
		got, err := k.OfReader(iotest.OneByteReader(strings.NewReader(in)))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestAKeyChangesTheDigestAndNothingElseOfWhatIsDigested(t *testing.T) {
	k := newKey(t, "k")
	for _, in := range []string{
		"", "x", "{}", " [ ] ", "[1e400]", `{"a":"Mar`, "[REDACTED]", "ghp_0123456789abcdefABCDEF0123",
		strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", MaxJSONBytes+1),
	} {
		plain, keyed := Plain.OfString(in), k.OfString(in)
		assert.Equal(t, plain.Form, keyed.Form)
		assert.Equal(t, plain.State, keyed.State)
		assert.Equal(t, (plain.Size+63)/64*64, keyed.Size)
		assert.Equal(t, plain.Value == "", keyed.Value == "")
		if keyed.Value != "" {
			assert.Regexp(t, `^hmac-sha256:k:[0-9a-f]{64}$`, keyed.Value)
			assert.NotContains(t, keyed.Value, plain.Value[len(plainPrefix):])
		}
		got, err := k.OfReader(strings.NewReader(in))
		require.NoError(t, err)
		assert.Equal(t, keyed, got)
	}
	assert.Equal(t, placeholder, k.EmptyAsPlaceholder(k.OfString("{ }")))
	assert.Equal(t, placeholder, k.EmptyAsPlaceholder(k.OfString("[]")))
	assert.Equal(t, k.OfString("[0]"), k.EmptyAsPlaceholder(k.OfString("[0]")))
	assert.Equal(t, k.OfString("x").Value, k.Sum("x"))
	assert.NotEqual(t, k.Sum("x"), newKey(t, "l").Sum("x"))
	other, err := NewKey("k", []byte(strings.Repeat("y", 32)))
	require.NoError(t, err)
	assert.NotEqual(t, k.Sum("x"), other.Sum("x"))
}

func TestAKeyIsUsedByManyAtOnce(t *testing.T) {
	k, want := newKey(t, "k"), newKey(t, "k").OfString(`{"a":1}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				assert.Equal(t, want, k.OfString(`{ "a": 1 }`))
			}
		})
	}
	wg.Wait()
}

func TestAKeyIsNeverPrinted(t *testing.T) {
	k := newKey(t, "bank-2026")
	var printed strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&printed, verb+" "+verb+"\n", k, struct{ K *Key }{k})
	}
	asJSON, err := json.Marshal(k)
	require.NoError(t, err)
	printed.Write(asJSON)
	for _, spelling := range spellings(secret) {
		assert.NotContains(t, printed.String(), spelling)
	}
	assert.Equal(t, "key(bank-2026)", fmt.Sprint(k))
	assert.Equal(t, "key()", fmt.Sprint(Plain))
	assert.Empty(t, Plain.ID())
}

// spellings are the ways in which a secret could be printed.
func spellings(secret string) []string {
	return []string{secret, fmt.Sprintf("%x", secret), strings.Trim(fmt.Sprint([]byte(secret)), "[]"), base64.RawStdEncoding.EncodeToString([]byte(secret))}
}

func TestAKeyIsBase64InOneLine(t *testing.T) {
	padded := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, text := range []string{padded, padded + "\n", padded + "\r\n", strings.TrimRight(padded, "=")} {
		k, err := ParseKey("k", text)
		require.NoError(t, err)
		assert.Equal(t, newKey(t, "k").Sum("x"), k.Sum("x"))
	}
	for name, text := range map[string]string{
		"nothing":             "",
		"two lines":           padded[:20] + "\n" + padded[20:],
		"a line too many":     padded + "\n\n",
		"a space":             padded + " ",
		"base64url":           strings.Repeat("-_", 32),
		"31 bytes":            base64.StdEncoding.EncodeToString([]byte(secret[1:])),
		"another spelling":    padded[:42] + "/=",
		"half of the padding": base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 34))[:47],
		"text of 5000 bytes":  strings.Repeat("QUFB", 1250),
	} {
		_, err := ParseKey("k", text)
		require.Error(t, err, name)
		assert.Contains(t, err.Error(), "openssl rand -base64 32", name)
		if text = strings.TrimSpace(text); text != "" {
			assert.NotContains(t, err.Error(), text[:min(len(text), 8)], name)
		}
	}
}

func TestTheIDOfAKeyCanStandInADigest(t *testing.T) {
	for _, id := range []string{"a", "bank-2026.v1_EU", strings.Repeat("x", 128)} {
		_, err := NewKey(id, []byte(secret))
		assert.NoError(t, err, id)
	}
	for _, id := range []string{"", "a:b", "a b", "ä", strings.Repeat("x", 129)} {
		_, err := NewKey(id, []byte(secret))
		assert.ErrorIs(t, err, errKeyID, id)
	}
}

func TestAKeyFileIsReadableByItsOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	text := base64.StdEncoding.EncodeToString([]byte(secret)) + "\n"
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	for _, mode := range []os.FileMode{0o600, 0o400} {
		k, err := ReadKeyFile("k", write(fmt.Sprintf("owner-%o", mode), text, mode))
		require.NoError(t, err)
		assert.Equal(t, newKey(t, "k").Sum("x"), k.Sum("x"))
	}
	for name, c := range map[string]struct{ path, want string }{
		"a directory":         {dir, "is a directory"},
		"no file":             {filepath.Join(dir, "absent"), "key file cannot be read: no such file or directory"},
		"text that is no key": {write("text", "QUJD "+text, 0o600), "one line of standard base64"},
		"a large file":        {write("large", strings.Repeat("QUFB", 100_000), 0o600), "one line of standard base64"},
		"a file for a group":  {write("group", text, 0o640), "has mode 0640 and is open to others than its owner; run chmod 600"},
		"a file for all":      {write("all", text, 0o604), "has mode 0604"},
	} {
		if runtime.GOOS == "windows" && strings.HasPrefix(name, "a file for") {
			continue
		}
		_, err := ReadKeyFile("k", c.path)
		require.ErrorContains(t, err, c.want, name)
		assert.NotContains(t, err.Error(), dir, "a key may stand in place of a name")
		assert.NotContains(t, err.Error(), "QUJD")
		assert.NotContains(t, err.Error(), text[:8])
	}
}

func FuzzParseKey(f *testing.F) {
	text := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, seed := range []string{"", text, text + "\n", strings.TrimRight(text, "="), "====", "AAAA\r\nAAAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKey("k", text)
		if err != nil {
			if line := strings.TrimSpace(text); len(line) >= 8 && !strings.Contains(errKeyText.Error(), line) {
				require.NotContains(t, err.Error(), line)
			}
			return
		}
		// What is read has one spelling but for padding and the end of the line.
		line := strings.TrimRight(text, "\r\n")
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(line, "="))
		require.NoError(t, err)
		require.Equal(t, strings.TrimRight(line, "="), base64.RawStdEncoding.EncodeToString(raw))
		again, err := NewKey("k", raw)
		require.NoError(t, err)
		require.Equal(t, k.Sum("x"), again.Sum("x"))
	})
}

func FuzzPreimageOfBytesIsWhatWasDigested(f *testing.F) {
	for _, seed := range []string{"", "x", "{}", `{"b": 1.0, "a": [1e2]}`, "[1e400]", "[\"", "\xff", "[\"\\ud83d\\ude00\"]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		d := Plain.OfBytes(in)
		if d.Value == "" {
			return
		}
		preimage := PreimageOfBytes(in, d.Form)
		require.Equal(t, d.Value, Plain.Sum(string(preimage)))
		require.Equal(t, preimage, PreimageOfString(string(in), d.Form))
		require.Equal(t, before, in)
	})
}

func BenchmarkKeyed(b *testing.B) {
	k, text := newKey(b, "k"), strings.Repeat("medium risk ", 85)
	for name, key := range map[string]*Key{"plain": Plain, "keyed": k} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				key.OfString(text)
			}
		})
	}
}
