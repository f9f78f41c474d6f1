// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

// tarOf writes headers as any program could.
func tarOf(t *testing.T, headers ...*tar.Header) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		require.NoError(t, w.WriteHeader(h))
		if h.Typeflag == tar.TypeReg {
			_, err := w.Write(make([]byte, h.Size))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func regular(name string) *tar.Header {
	return &tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg, Size: 3, Format: tar.FormatUSTAR}
}

func TestAnArchiveHasOneSpelling(t *testing.T) {
	h := newHouse(t, 6)
	good := h.make(nil)
	require.NotEqual(t, 1, h.verify(good).ExitCode())
	link, dir, owner, executable, pax := regular("a"), regular("a/"), regular("a"), regular("a"), regular("a")
	link.Typeflag, link.Linkname, link.Size = tar.TypeSymlink, "/etc/passwd", 0
	dir.Typeflag, dir.Size = tar.TypeDir, 0
	owner.Uid = 1
	executable.Mode = 0o755
	pax.Format, pax.PAXRecords = tar.FormatPAX, map[string]string{"comment": "hidden"}
	for what, b := range map[string][]byte{
		"empty":                {},
		"not a tar":            []byte("not a tar"),
		"leads up":             tarOf(t, regular("../a")),
		"leads up inside":      tarOf(t, regular("a/../../b")),
		"absolute":             tarOf(t, regular("/a")),
		"a backslash":          tarOf(t, regular("a\\b")),
		"a drive":              tarOf(t, regular("c:a")),
		"two spellings":        tarOf(t, regular("a//b")),
		"a dot":                tarOf(t, regular("./a")),
		"a link":               tarOf(t, link),
		"a directory":          tarOf(t, dir),
		"an owner":             tarOf(t, owner),
		"executable":           tarOf(t, executable),
		"a pax header":         tarOf(t, pax),
		"twice":                tarOf(t, regular("a"), regular("a")),
		"out of order":         tarOf(t, regular("b"), regular("a")),
		"cut":                  good[:len(good)-blockSize],
		"cut inside":           good[:len(good)/2],
		"something behind":     append(slices.Clone(good), make([]byte, blockSize)...),
		"in the padding":       inPadding(good),
		"a size that is a lie": sized(good, "77777777777"),
		"a size with a sign":   sized(good, "-0000000001"),
	} {
		r := h.verify(b)
		if assert.NotNil(t, r.FirstBad, what) {
			assert.Equal(t, journal.CodeNotCanonical, r.FirstBad.Code, what)
		}
		assert.Equal(t, 1, r.ExitCode(), what)
	}
}

// inPadding puts a byte behind the end of the first file.
func inPadding(b []byte) []byte {
	out := slices.Clone(b)
	var head [blockSize]byte
	copy(head[:], out)
	_, size, err := parseHeader(&head)
	if err != nil {
		panic(err)
	}
	out[blockSize+size] = 'x'
	return out
}

// sized gives the first file another size and a header that fits it.
func sized(b []byte, digits string) []byte {
	out := slices.Clone(b)
	copy(out[124:], digits)
	sum := 0
	for i, c := range out[:blockSize] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int(c)
	}
	copy(out[148:], octal(sum))
	return out
}

func octal(n int) string {
	var digits [6]byte
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + n&7)
		n >>= 3
	}
	return string(digits[:]) + "\x00 "
}

// TestAFlippedBitIsFoundWhereverItIs begins at another byte in every run, so that all
// of them have their turn.
func TestAFlippedBitIsFoundWhereverItIs(t *testing.T) {
	h := newHouse(t, 4)
	b := h.make(func(o *Options) { o.Selection = Selection{FirstSequence: 2, LastSequence: 3} })
	const step = 17
	for i := rand.IntN(step); i < len(b); i += step {
		changed := slices.Clone(b)
		changed[i] ^= 1 << rand.IntN(8)
		require.Equal(t, 1, h.verify(changed).ExitCode(), "byte %d of %d", i, len(b))
	}
}

func TestLongNamesAreDividedInOneWay(t *testing.T) {
	long := strings.Repeat("a", 60) + "/" + strings.Repeat("b", 80) + "/" + strings.Repeat("c", 90)
	for _, name := range []string{"a", strings.Repeat("a", 100), long, long[:200]} {
		h, err := header(name, 5)
		require.NoError(t, err, name)
		got, size, err := parseHeader(h)
		require.NoError(t, err)
		assert.Equal(t, name, got)
		assert.EqualValues(t, 5, size)
		r := tar.NewReader(bytes.NewReader(append(h[:], make([]byte, 3*blockSize)...)))
		read, err := r.Next()
		require.NoError(t, err)
		assert.Equal(t, name, read.Name)
	}
	for _, name := range []string{"", strings.Repeat("a", 101), strings.Repeat("a", 256), strings.Repeat("a/", 130), "a b", "ä", "a\nb"} {
		_, err := header(name, 1)
		assert.Error(t, err, name)
	}
	_, err := header("a", -1)
	assert.Error(t, err)
	_, err = header("a", maxFileBytes+1)
	assert.Error(t, err)
}

// brokenReader fails where a disk would.
type brokenReader struct {
	*bytes.Reader
	from int64
}

var errDisk = errors.New("input/output error")

func (r *brokenReader) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > r.from {
		return 0, errDisk
	}
	return r.Reader.ReadAt(p, at)
}

func TestABundleThatCannotBeReadGetsNoVerdict(t *testing.T) {
	h := newHouse(t, 4)
	b := h.make(nil)
	for from := int64(0); from < int64(len(b)); from += 700 {
		_, err := Verify(t.Context(), &brokenReader{bytes.NewReader(b), from}, int64(len(b)), h.trust())
		require.ErrorIs(t, err, errDisk, "from %d", from)
	}
}

// FuzzVerify changes artifacts of a bundle that its maker signed.
func FuzzVerify(f *testing.F) {
	h := newHouse(f, 4)
	files := unpack(f, h.make(nil))
	for i, file := range files {
		f.Add(uint8(i), file.text)
	}
	f.Fuzz(func(t *testing.T, at uint8, text []byte) {
		changed := slices.Clone(files)
		changed[int(at)%(len(files)-3)].text = text // index and manifest are made anew
		h := *h
		h.t = t
		r := h.verify(h.resign(changed, nil))
		if r.ExitCode() == 0 && r.Inclusion != journal.Valid {
			t.Error("a check that was not made counts")
		}
	})
}

func FuzzReaders(f *testing.F) {
	f.Add([]byte("x"))
	line := (&Artifact{Digest: "sha256:" + strings.Repeat("0", 64), Name: keysName, Size: 1}).line()
	f.Add(line)
	if b, err := header(keysName, 1); err == nil {
		f.Add(b[:])
	}
	f.Add([]byte(entryName("jrn_1", 3, proofSuffix)))
	f.Add([]byte(rangeName("jrn_1", 1, 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := parseArtifact(data); err == nil && !bytes.Equal(a.line(), data) {
			t.Error("two spellings of a line")
		}
		if m, err := parseManifest(data); err == nil {
			again, err := m.format()
			require.NoError(t, err)
			require.Equal(t, string(data), string(again))
		}
		_, _, _ = parseSignature(data)
		parseName(string(data))
		a := &archiveReader{r: bytes.NewReader(data), size: int64(len(data))}
		var names []string
		for {
			file, err := a.next()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, errArchive) {
					t.Error(err)
				}
				break
			}
			names = append(names, file.name)
		}
		if !slices.IsSorted(names) {
			t.Error("names out of order")
		}
	})
}
